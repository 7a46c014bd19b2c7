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
namespace {

constexpr std::size_t page = 4096;
static_assert(sizeof(SharedHeader) <= page);

} // namespace

std::size_t lay_out(Problem& problem, std::size_t a_bytes, std::size_t b_bytes, std::size_t c_bytes) {
  std::size_t end = 0;
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

PrivateMemory::PrivateMemory(std::size_t bytes) : bytes_(bytes) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw OutOfMemory("--kernel: no memory of " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  madvise(mapped, bytes, MADV_HUGEPAGE);
  data_ = static_cast<std::byte*>(mapped);
}

PrivateMemory::~PrivateMemory() { munmap(data_, bytes_); }

SharedPage::SharedPage() {
  descriptor_ = memfd_create("gemm_judge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  void* mapped = MAP_FAILED;
  // The page is reserved now, so that a lack of memory does not become a SIGBUS later.
  if (descriptor_ >= 0 && posix_fallocate(descriptor_, 0, page) == 0 &&
      fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
    mapped = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) {
    const int error = errno;
    if (descriptor_ >= 0) close(descriptor_);
    throw OutOfMemory(std::string("--kernel: no shared page: ") + std::strerror(error));
  }
  header_ = new (mapped) SharedHeader;
}

SharedPage::~SharedPage() {
  munmap(header_, page);
  close(descriptor_);
}

} // namespace tessera::judge
