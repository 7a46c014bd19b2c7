#include "descriptor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <cerrno>
#include <utility>

namespace tessera::io {

Descriptor::Descriptor(int number) noexcept : number_(number) {
  if (number < STDIN_FILENO || number > STDERR_FILENO) return;
  const int error = errno;
  const int above = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (above >= 0) {
    ::close(number);
    number_ = above;
  }
  errno = error;
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  close();
  number_ = other.release();
  return *this;
}

int Descriptor::release() noexcept { return std::exchange(number_, -1); }

int Descriptor::close() noexcept {
  const int number = release();
  // Linux has closed the file even where a signal interrupts the call.
  return number < 0 || ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

DescriptorBuffer::DescriptorBuffer() noexcept { setp(buffer_.data(), buffer_.data() + buffer_.size()); }

bool DescriptorBuffer::write(const char* bytes, std::streamsize count) noexcept {
  while (error_ == 0 && count > 0) {
    const ssize_t written = ::write(descriptor_, bytes, static_cast<std::size_t>(count));
    if (written > 0) {
      bytes += written;
      count -= written;
    } else if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd ready{descriptor_, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (written == 0 || errno != EINTR) {
      error_ = written == 0 ? ENOSPC : errno;
    }
  }
  return error_ == 0;
}

bool DescriptorBuffer::flush_buffer() noexcept {
  const bool written = write(pbase(), pptr() - pbase());
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return written;
}

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type character) {
  if (!flush_buffer()) return traits_type::eof();
  if (!traits_type::eq_int_type(character, traits_type::eof())) sputc(traits_type::to_char_type(character));
  return traits_type::not_eof(character);
}

std::streamsize DescriptorBuffer::xsputn(const char* text, std::streamsize count) {
  if (count < epptr() - pptr()) return std::streambuf::xsputn(text, count);
  return flush_buffer() && write(text, count) ? count : 0;
}

int DescriptorBuffer::sync() { return flush_buffer() ? 0 : -1; }

} // namespace tessera::io
