#include "labels/digits.h"

namespace crowdfold {

std::string digits_of(std::uint32_t number) {
  std::size_t length = kMostDigits;
  while (number < kShorterDigits[length]) --length;
  std::string digits(length, '0');
  number -= kShorterDigits[length];
  for (std::size_t i = length; number > 0; number /= 10)
    digits[--i] = static_cast<char>('0' + number % 10);
  return digits;
}

}  // namespace crowdfold
