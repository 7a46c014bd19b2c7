#include "limits.hpp"

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace tessera::judge {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_space_can_be_limited = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool address_space_can_be_limited = false;
#else
constexpr bool address_space_can_be_limited = true;
#endif
#else
constexpr bool address_space_can_be_limited = true;
#endif

void limit(int resource, std::size_t value) {
  rlimit wanted{value, value};
  rlimit now{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &now) == 0 && now.rlim_max < wanted.rlim_max)
    wanted = {now.rlim_max, now.rlim_max};
  setrlimit(static_cast<__rlimit_resource>(resource), &wanted);
}

std::size_t address_space_in_use() {
  std::size_t pages = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%zu", &pages) != 1) pages = 0; // NOLINT(cert-err34-c): the kernel writes numbers
    std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

SharedHeader* faults_to = nullptr;
std::array<const std::byte*, 3> operand_begin{};
std::array<std::size_t, 3> operand_bytes{};

/// Uses lock-free stores alone, because it may interrupt the kernel anywhere.
void on_fault(int signal, siginfo_t* info, void*) {
  const auto* address = static_cast<const std::byte*>(info->si_addr);
  std::int64_t nearest = farthest_overrun;
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t offset = address - operand_begin[at];
    const auto bytes = static_cast<std::int64_t>(operand_bytes[at]);
    const std::int64_t distance = offset < 0 ? -offset : offset < bytes ? 0 : offset - bytes;
    if (operand_begin[at] == nullptr || distance >= nearest) continue;
    nearest = distance;
    faults_to->fault_offset = offset;
    faults_to->fault_operand = i;
  }
  // The handler runs once: then the faulting instruction is executed again and ends the process. If there was no such
  // instruction, because the kernel sent the signal, the handler sends it again.
  if (info->si_code <= 0) raise(signal);
}

} // namespace

void confine() {
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, most_file_bytes);
}

void limit_memory(std::size_t bytes) {
  if (address_space_can_be_limited && bytes > 0) limit(RLIMIT_AS, address_space_in_use() + bytes);
}

void report_faults(SharedHeader& header) {
  faults_to = &header;
  // The handler has its own stack, because a kernel may have overflowed the usual one.
  static std::array<std::byte, 65536> stack;
  stack_t alternative{};
  alternative.ss_sp = stack.data();
  alternative.ss_size = stack.size();
  sigaltstack(&alternative, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

void watch_operands(const std::array<const void*, 3>& data, const std::array<std::size_t, 3>& bytes) {
  for (std::size_t i = 0; i < 3; ++i) operand_begin[i] = static_cast<const std::byte*>(data[i]);
  operand_bytes = bytes;
}

} // namespace tessera::judge
