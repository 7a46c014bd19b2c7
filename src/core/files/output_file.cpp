#include "output_file.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <locale>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "overwrite.hpp"
#include "partial_file.hpp"
#include "replace_file.hpp"
#include "retry.hpp"

namespace tessera {

namespace fs = std::filesystem;

namespace io {

OutputFile::OutputFile(const fs::path& target) : name_(target), target_(resolve_output(target)), stream_(nullptr) {
  if (target_.direct)
    open_directly();
  else if (is_fixed(target_))
    open_aside();
  else
    open_beside();
  buffer_.set_descriptor(file_.number());
  stream_.rdbuf(&buffer_);
  stream_.imbue(std::locale::classic()); // a program may have set another decimal point
}

OutputFile::~OutputFile() {
  if (!partial_.empty()) unlinkat(folder_.number(), partial_.c_str(), 0);
}

fs::path OutputFile::partial_path() const {
  return partial_.empty() ? fs::path() : target_.path.parent_path() / partial_;
}

void OutputFile::fail(int error) const {
  if (error == ENOMEM) throw std::bad_alloc();
  throw IoError("cannot write " + name_.string() + ": " + std::strerror(error));
}

void OutputFile::open_directly() {
  if (target_.descriptor == STDOUT_FILENO) std::fflush(stdout); // what the program has printed comes first
  file_ = Descriptor(target_.descriptor >= 0 ? fcntl(target_.descriptor, F_DUPFD_CLOEXEC, 0)
                                             : retried([&] { // a pipe waits, and a signal interrupts the wait
                                                 return open(target_.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
                                               }));
  if (!file_.is_open()) fail(errno);
}

void OutputFile::open_aside() {
  if (!open_in_place(target_).is_open()) fail(errno);
  file_ = create_aside();
  if (!file_.is_open()) fail(errno);
}

void OutputFile::open_beside() {
  // A file that only grows (chattr +a) takes no replacement.
  if (target_.exists && !open_in_place(target_).is_open() && errno == EPERM) fail(errno);
  folder_ = open_folder_of(target_);
  if (!folder_.is_open()) fail(errno);
  remove_leftovers(folder_.number());
  // No other user reads what replaces a private file, not even before it has that file's mode.
  PartialFile partial =
      create_partial_file(folder_.number(), target_.path.filename().string(), target_.exists ? 0600 : 0666);
  if (!partial.descriptor.is_open() && target_.exists && says_fixed(errno)) return open_aside();
  if (!partial.descriptor.is_open()) fail(errno);
  partial_ = std::move(partial.name);
  file_ = std::move(partial.descriptor);
}

/// Returns 0, or errno.
int OutputFile::replace() {
  if (partial_.empty()) return overwrite(target_, file_);
  const int error = replace_target(target_, folder_, file_, partial_);
  if (error == 0) partial_.clear();
  // The kernel may refuse for a reason that nothing told before.
  return target_.exists && says_fixed(error) ? overwrite(target_, file_) : error;
}

void OutputFile::commit() {
  stream_.flush();
  if (buffer_.error() != 0) fail(buffer_.error());
  if (!stream_ && errno == ENOMEM) throw std::bad_alloc(); // a stream takes a shortage of memory for a failed write
  if (!stream_) throw IoError("cannot write " + name_.string() + ": its contents could not be made");
  if (target_.direct) {
    if (const int error = file_.close(); error != 0) fail(error);
    return;
  }
  if (const int error = replace(); error != 0) fail(error);
}

} // namespace io

void write_text_file(const fs::path& path, std::string_view text) try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract; // libstdc++ computes with double where it joins paths
  errno = 0;
  io::OutputFile file(path);
  file.stream().write(text.data(), static_cast<std::streamsize>(text.size()));
  file.commit();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void check_writable(const fs::path& path) {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  // A device or a pipe is not opened: the reader of a pipe would see its end.
  if (!io::resolve_output(path).direct) io::OutputFile file(path);
}

} // namespace tessera
