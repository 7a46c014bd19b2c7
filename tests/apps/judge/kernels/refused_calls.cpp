/// Makes every system call that a computation does not need, whatever its number, with arguments that mean nothing. It
/// puts -1 into C(0, 0) if Linux looked at the arguments of one of them.
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <iterator>
#include <string>

#include "product.hpp"
#include "refused.hpp"

/// What may be allowed. Some of these are allowed with certain arguments alone; refused_arguments.cpp has others.
// clang-format off
static const long needed[] = {
    // memory
    SYS_mmap, SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_msync,
    // threads and processes
    SYS_clone, SYS_futex, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq, SYS_sched_yield, SYS_getcpu, SYS_exit,
    SYS_exit_group, SYS_execve, SYS_wait4, SYS_waitid, SYS_sched_getaffinity, SYS_sched_setaffinity,
    SYS_sched_getscheduler, SYS_sched_getparam, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
    // signals
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend, SYS_rt_sigtimedwait,
    SYS_sigaltstack, SYS_restart_syscall, SYS_kill, SYS_tkill, SYS_tgkill,
    // time
    SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_nanosleep, SYS_clock_nanosleep, SYS_times, SYS_getrusage,
    SYS_ppoll, SYS_pselect6,
    // files; 436 and 439 are close_range and faccessat2
    SYS_openat, SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev,
    SYS_lseek, SYS_close, 436, SYS_dup, SYS_dup3, SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs,
    SYS_faccessat, 439, SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir, SYS_mkdirat, SYS_unlinkat,
    SYS_renameat, SYS_renameat2, SYS_ftruncate, SYS_pipe2, SYS_fcntl, SYS_ioctl,
    // the rest
    SYS_getpid, SYS_gettid, SYS_getppid, SYS_getpgid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname,
    SYS_sysinfo, SYS_getrandom, SYS_prlimit64, SYS_prctl, SYS_sendto, SYS_recvfrom,
#if defined(__x86_64__)
    SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_pipe, SYS_mkdir, SYS_rmdir, SYS_unlink,
    SYS_rename, SYS_poll, SYS_select, SYS_fork, SYS_pause, SYS_time, SYS_getrlimit, SYS_getpgrp, SYS_arch_prctl,
    // Linux lets no filter see these two, which serve its probes in programs, and ends a process that makes one itself.
    335, 336,
#endif
};
// clang-format on

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  const int self = getpid();
  Attempts attempts;
  for (long call = 0; call < 1024; ++call) {
    if (std::find(std::begin(needed), std::end(needed), call) != std::end(needed)) continue;
    const long result = syscall(call, -1L, -1L, -1L, -1L, -1L, -1L);
    if (getpid() != self) _exit(0); // a new process
    attempts.must_be_refused(("system call " + std::to_string(call)).c_str(), result);
  }
  if (attempts.failures() > 0) c[0] = -1;
}
