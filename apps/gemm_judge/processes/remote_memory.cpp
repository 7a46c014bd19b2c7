#include "remote_memory.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cerrno>
#include <string>
#include <vector>

#include "gemm_judge/child/guard_bands.hpp"

namespace tessera::judge {
namespace {

/// Parts of this size stay in a cache between being read and being compared.
constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

/// Calls step(done, left), which returns how many bytes it copied, until all are copied. Returns whether they were.
template <class Step>
bool copy(std::size_t bytes, Step&& step) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t got = step(done, bytes - done);
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

/// Some containers forbid the system calls, but not the file /proc/…/mem.
bool is_forbidden(int error) { return error == EPERM || error == ENOSYS; }

template <class Use>
ssize_t through_file(pid_t process, int mode, Use&& use) {
  const int file = open(("/proc/" + std::to_string(process) + "/mem").c_str(), mode | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t got = use(file);
  const int error = errno;
  close(file);
  errno = error;
  return got;
}

} // namespace

bool write_memory(pid_t process, std::uint64_t to, const std::byte* from, std::size_t bytes) {
  return copy(bytes, [&](std::size_t done, std::size_t left) {
    const iovec ours{const_cast<std::byte*>(from) + done, left};
    const iovec theirs{reinterpret_cast<void*>(to + done), left};
    const ssize_t got = process_vm_writev(process, &ours, 1, &theirs, 1, 0);
    if (got > 0 || !is_forbidden(errno)) return got;
    return through_file(process, O_WRONLY,
                        [&](int file) { return pwrite(file, from + done, left, static_cast<off_t>(to + done)); });
  });
}

bool read_memory(pid_t process, std::uint64_t from, std::byte* to, std::size_t bytes) {
  return copy(bytes, [&](std::size_t done, std::size_t left) {
    const iovec ours{to + done, left};
    const iovec theirs{reinterpret_cast<void*>(from + done), left};
    const ssize_t got = process_vm_readv(process, &ours, 1, &theirs, 1, 0);
    if (got > 0 || !is_forbidden(errno)) return got;
    return through_file(process, O_RDONLY,
                        [&](int file) { return pread(file, to + done, left, static_cast<off_t>(from + done)); });
  });
}

bool RemoteOperand::write(const std::byte* image) const {
  return write_memory(process_, address_ - guard_bytes, guard_image().data(), guard_bytes) &&
         write_memory(process_, address_, image, bytes_) &&
         write_memory(process_, address_ + bytes_, guard_image().data(), guard_bytes);
}

bool RemoteOperand::read(std::byte* image) const { return read_memory(process_, address_, image, bytes_); }

bool RemoteOperand::read_pieces(const std::vector<std::size_t>& offsets, std::size_t each, std::byte* to) const {
  const std::size_t bytes = each * offsets.size();
  const iovec ours{to, bytes};
  std::vector<iovec> theirs;
  theirs.reserve(offsets.size());
  for (const std::size_t offset : offsets) theirs.push_back({reinterpret_cast<void*>(address_ + offset), each});
  const ssize_t got = process_vm_readv(process_, &ours, 1, theirs.data(), theirs.size(), 0);
  if (got == static_cast<ssize_t>(bytes)) return true;
  if (got >= 0 || !is_forbidden(errno)) return false;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (!read_memory(process_, address_ + offsets[i], to + i * each, each)) return false;
  return true;
}

std::optional<Difference> RemoteOperand::first_difference(const std::byte* image) const {
  static thread_local std::vector<std::byte> chunk(chunk_bytes);
  return judge::first_difference(bytes_, image, chunk, [&](std::int64_t offset, std::byte* to, std::size_t bytes) {
    return read_memory(process_, address_ + static_cast<std::uint64_t>(offset), to, bytes);
  });
}

} // namespace tessera::judge
