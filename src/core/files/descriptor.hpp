#pragma once

/// An open file descriptor, and a stream that writes to it and keeps the reason of the first failure.

#include <array>
#include <streambuf>

namespace tessera::io {

/// Owns a descriptor of open(2); -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  /// A number of a standard stream, which a program has that was started with that stream closed, is changed for
  /// another one: what is printed on stderr must not get into a file. errno stays.
  explicit Descriptor(int number) noexcept;
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { close(); }

  int number() const noexcept { return number_; }
  bool is_open() const noexcept { return number_ >= 0; }
  /// Returns 0, or errno where the system could not close the file and its contents may be lost.
  int close() noexcept;

 private:
  int release() noexcept;
  int number_ = -1;
};

/// The buffer of a std::ostream that writes to a descriptor. It retries what a signal interrupts, and waits where the
/// descriptor would block.
class DescriptorBuffer final : public std::streambuf {
 public:
  DescriptorBuffer() noexcept;
  /// Sets the descriptor to write to, which stays the caller's.
  void set_descriptor(int descriptor) noexcept { descriptor_ = descriptor; }
  /// Returns errno of the first write that failed; 0 if none did.
  int error() const noexcept { return error_; }

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize count) override;
  int sync() override;

 private:
  bool write(const char* bytes, std::streamsize count) noexcept;
  bool flush_buffer() noexcept;

  int descriptor_ = -1;
  int error_ = 0;
  std::array<char, 1 << 16> buffer_;
};

} // namespace tessera::io
