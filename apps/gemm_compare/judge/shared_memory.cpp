#include "shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include <tessera/status.hpp>

namespace tessera::judge {

std::size_t lay_out(Problem& problem, std::size_t a_bytes, std::size_t b_bytes, std::size_t c_bytes) {
  constexpr std::size_t page = 4096;
  std::size_t end = page;
  static_assert(sizeof(SharedHeader) <= page);
  const auto place = [&](std::size_t bytes) {
    const Region region{end, bytes};
    end += (bytes + page - 1) / page * page;
    return region;
  };
  problem.a = place(a_bytes);
  problem.b = place(b_bytes);
  problem.c = place(c_bytes);
  problem.result = place(c_bytes);
  return end;
}

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
  descriptor_ = memfd_create("gemm_judge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* mapped = MAP_FAILED;
  // The pages are reserved now, so that a lack of memory does not become a SIGBUS later.
  if (descriptor_ >= 0 && posix_fallocate(descriptor_, 0, static_cast<off_t>(bytes)) == 0 &&
      fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    if (descriptor_ >= 0) close(descriptor_);
    throw OutOfMemory("--kernel: no shared memory of " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  }
  data_ = static_cast<std::byte*>(mapped);
  new (data_) SharedHeader;
}

SharedMemory::~SharedMemory() {
  munmap(data_, bytes_);
  close(descriptor_);
}

} // namespace tessera::judge
