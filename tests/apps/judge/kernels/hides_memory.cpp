/// Keeps memory where no process shows it: in files in memory and segments that it writes and does not map, and in
/// shared memory of which it keeps one page mapped. It puts -1 into C(0, 0) where it could.
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstring>
#include <vector>

#include "product.hpp"
#include "refused.hpp"

static constexpr size_t bytes = size_t{48} << 20; // a file may have 64 MiB

static long in_a_file() {
  const int file = static_cast<int>(syscall(SYS_memfd_create, "hidden", 0U));
  if (file < 0) return -1;
  const std::vector<char> block(bytes, 1);
  return write(file, block.data(), block.size());
}

static long in_a_segment() {
  const int segment = shmget(IPC_PRIVATE, bytes, IPC_CREAT | 0600);
  if (segment < 0) return -1;
  void* mapped = shmat(segment, nullptr, 0);
  if (mapped != reinterpret_cast<void*>(-1)) std::memset(mapped, 1, bytes);
  shmdt(mapped);
  shmctl(segment, IPC_RMID, nullptr);
  return 0;
}

static long in_shared_pages(int file, int flags) {
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, file, 0);
  if (mapped == MAP_FAILED) return -1;
  std::memset(mapped, 1, bytes);
  return munmap(static_cast<char*>(mapped) + 4096, bytes - 4096);
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  Attempts attempts;
  attempts.must_be_refused("a file in memory", in_a_file());
  attempts.must_be_refused("a segment of System V", in_a_segment());
  attempts.must_be_refused("shared pages without a file", in_shared_pages(-1, MAP_ANONYMOUS));
  const int zeros = open("/dev/zero", O_RDWR);
  attempts.must_be_refused("shared pages of /dev/zero", zeros < 0 ? -1 : in_shared_pages(zeros, 0));
  if (attempts.failures() > 0) c[0] = -1;
}
