#pragma once

/// A file in memory that holds a fuzz input, for functions that read files.

#include <sys/mman.h>
#include <unistd.h>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "target.hpp"

namespace tessera::fuzz {

class InputFile {
 public:
  InputFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
    require(descriptor_ >= 0, "memfd_create failed");
    for (std::size_t done = 0; done < size;) {
      const ssize_t written = write(descriptor_, data + done, size - done);
      require(written > 0, "a file in memory could not be written");
      done += static_cast<std::size_t>(written);
    }
  }
  ~InputFile() { close(descriptor_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

} // namespace tessera::fuzz
