// Makes the checksums of bytes of rounds fit what they are over, so that forgeries reach what is behind
// them.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <string>
#include <string_view>

namespace crowdfold::testing {

// Of a package (crowdfold/round_bytes.h), and of the model or summary in it. Other bytes stay as they
// are.
inline void seal_rounds(std::string& bytes) {
  const auto seal = [&](std::size_t signature_at) {
    const std::size_t end = bytes.find('\n', signature_at);
    if (end == std::string::npos || bytes.size() < end + 1 + sizeof(XXH64_hash_t)) return;
    const std::size_t body = end + 1 + sizeof(XXH64_hash_t);
    const XXH64_hash_t hash = XXH3_64bits(bytes.data() + body, bytes.size() - body);
    std::memcpy(bytes.data() + end + 1, &hash, sizeof hash);
  };
  constexpr std::string_view kInner = "crowdfold rounds 1\n";
  if (const std::size_t inner = bytes.find(kInner); inner != std::string::npos) seal(inner);
  if (bytes.starts_with("crowdfold ")) seal(0);
}

}  // namespace crowdfold::testing
