#include "system_call_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace tessera::judge {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t machine = 0; // such a machine has no filter
#endif

/// Every flag of clone() that makes a name space.
constexpr std::uint32_t new_name_spaces = 0x7e020080;

/// A program of the classic Berkeley packet filter. Each rule ends by loading the number of the system call again, so
/// that rules stand in any order.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, machine, 1, 0);
    answer(SECCOMP_RET_ERRNO | ENOSYS); // a 32-bit call would have other numbers
    load_number();
#if defined(__x86_64__)
    jump(BPF_JGE, 0x40000000, 0, 1); // x32 calls
    answer(SECCOMP_RET_ERRNO | ENOSYS);
#endif
  }

  void refuse(long call, int error = EPERM) {
    jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1);
    answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error));
  }
  /// Refuses the call if the low half of an argument is `value`.
  void refuse_if(long call, int argument, std::uint32_t value) { refuse_where(BPF_JEQ, call, argument, value); }
  void refuse_if_any_bit(long call, int argument, std::uint32_t bits) { refuse_where(BPF_JSET, call, argument, bits); }
  /// Refuses the call unless the low half of an argument is one of `values`.
  void refuse_unless(long call, int argument, std::initializer_list<std::uint32_t> values) {
    const auto count = static_cast<std::uint8_t>(values.size());
    jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, static_cast<std::uint8_t>(count + 3));
    load_argument(argument);
    std::uint8_t left = count;
    for (const std::uint32_t value : values) jump(BPF_JEQ, value, left--, 0);
    answer(SECCOMP_RET_ERRNO | EPERM);
    load_number();
  }

  bool install() {
    answer(SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    // Without this flag older versions of Linux slow all loads down (speculative store bypass).
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0;
  }

 private:
  void refuse_where(std::uint16_t test, long call, int argument, std::uint32_t value) {
    jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 4);
    load_argument(argument);
    jump(test, value, 0, 1);
    answer(SECCOMP_RET_ERRNO | EPERM);
    load_number();
  }
  void load(std::size_t offset) {
    code_.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)});
  }
  void load_number() { load(offsetof(seccomp_data, nr)); }
  void load_argument(int argument) { load(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument)); }
  void jump(std::uint16_t test, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, value});
  }
  void answer(std::uint32_t action) { code_.push_back({BPF_RET | BPF_K, 0, 0, action}); }

  std::vector<sock_filter> code_;
};

void refuse_the_rest(Filter& filter) {
  // These reach into other processes.
  for (const long call : {SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_pidfd_open,
                          SYS_pidfd_send_signal, SYS_perf_event_open})
    filter.refuse(call);
  filter.refuse(438); // pidfd_getfd; its number is the same on all machines, and older headers lack it
  filter.refuse(440); // process_madvise
  // These change the machine, or how it is seen.
  for (const long call :
       {SYS_mount,       SYS_umount2,      SYS_pivot_root,    SYS_chroot,     SYS_setns,         SYS_unshare,
        SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,        SYS_swapon,
        SYS_swapoff,     SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,   SYS_clock_adjtime, SYS_bpf,
        SYS_userfaultfd, SYS_add_key,      SYS_request_key,   SYS_keyctl})
    filter.refuse(call);
  filter.refuse_if_any_bit(SYS_clone, 0, new_name_spaces);
  filter.refuse(435, ENOSYS); // clone3, whose flags lie in memory: libraries fall back to clone
  filter.refuse(425, ENOSYS); // io_uring_setup, whose work no filter sees
  // There is no network. Local sockets lead to servers with rights that the kernel does not have.
  filter.refuse(SYS_socket, EACCES);
  // With these a kernel could change a result after it returned, while all of its threads seem to sleep for good.
  filter.refuse(SYS_setitimer);
  filter.refuse(SYS_timer_create);
  filter.refuse(SYS_timerfd_create);
#ifdef SYS_alarm
  filter.refuse(SYS_alarm);
#endif
  // The parent reads this process's memory, and this process ends with its parent.
  for (const std::uint32_t option : {PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_MM})
    filter.refuse_if(SYS_prctl, 0, option);
  filter.refuse_unless(SYS_prlimit64, 0, {0});
}

/// Signals go to this process and to its own group alone. A filter cannot know which processes the kernel will start,
/// so that it cannot signal these either.
void guard_others(Filter& filter) {
  const auto self = static_cast<std::uint32_t>(getpid());
  filter.refuse_unless(SYS_kill, 0, {0, self});
  for (const long call : {SYS_tgkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
    filter.refuse_unless(call, 0, {self});
  filter.refuse(SYS_tkill);
}

} // namespace

bool filter_system_calls(bool guard_processes) {
  if (machine == 0) return false;
  Filter filter;
  refuse_the_rest(filter);
  if (guard_processes) guard_others(filter);
  return filter.install();
}

} // namespace tessera::judge
