// Compresses bytes on their way to a file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace crowdfold {

class Encoder {
 public:
  virtual ~Encoder() = default;

  // What the bytes become, as far as it is known by now. How they are cut into calls does not matter.
  std::string encode(std::string_view bytes);
  // The rest; nothing may come behind it.
  std::string finish();

 protected:
  // Appends what `bytes` become. The last call ends the stream.
  virtual void append(std::string& to, std::string_view bytes, bool last) = 0;

 private:
  std::string pending_;
};

// The ending of a name that tells its compression, ".gz" or ".zst" in any case; empty if it is plain.
std::string_view compression_ending(std::string_view path);

// By the path's ending; null: plain.
std::unique_ptr<Encoder> make_encoder(std::string_view path);

}  // namespace crowdfold
