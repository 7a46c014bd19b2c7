#include "allowed_calls.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <initializer_list>

namespace tessera::judge {
namespace {

// Numbers and flags that older headers lack. A call has the same number on all machines from 424 on.
enum : long { call_clone3 = 435, call_close_range = 436, call_faccessat2 = 439 };
enum : std::uint32_t { name_memory = 0x53564d41, sve_get_length = 51, sme_get_length = 64 };
enum : std::uint32_t { get_terminal = 0x802c542a }; // TCGETS2
enum : std::uint32_t { advise_populate_read = 22, advise_populate_write = 23, advise_collapse = 25 };
#if defined(__x86_64__)
constexpr std::uint32_t large_file = 0100000; // O_LARGEFILE is 0 in glibc
#else
constexpr std::uint32_t large_file = 0400000;
#endif

/// Flags of open(). Among the others are O_DIRECT, O_ASYNC, O_TMPFILE and O_PATH.
constexpr std::uint32_t open_flags = O_WRONLY | O_RDWR | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK |
                                     large_file | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// Words of the table.
ArgumentTest is(int argument, std::uint32_t value) { return {.argument = argument, .value = value}; }
ArgumentTest is_null(int argument) { return {.argument = argument, .is_null = true}; }
ArgumentTest has(int argument, std::uint32_t mask, std::uint32_t value) { return {argument, mask, value}; }
ArgumentTest has_only(int argument, std::uint32_t bits) { return {argument, ~bits, 0}; }

class Table {
 public:
  void allow(std::initializer_list<long> calls) {
    for (const long call : calls) add(call, 0, {});
  }
  void allow_if(long call, std::initializer_list<ArgumentTest> tests) { add(call, 0, tests); }
  /// Allows a call whose argument is one of `values`.
  void allow_each(long call, int argument, std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values) allow_if(call, {is(argument, value)});
  }
  void refuse(long call, int error, std::initializer_list<ArgumentTest> tests = {}) { add(call, error, tests); }

  std::span<const CallRow> rows() const { return std::span(rows_).first(size_); }

 private:
  void add(long call, int error, std::initializer_list<ArgumentTest> tests) {
    CallRow& row = rows_.at(size_++);
    row = {call, error};
    for (const ArgumentTest& test : tests) row.tests.at(row.test_count++) = test;
  }

  std::array<CallRow, 256> rows_{};
  std::size_t size_ = 0;
};

void add_memory(Table& table) {
  table.allow({SYS_munmap, SYS_mprotect, SYS_mremap, SYS_brk, SYS_msync});
  // Shared memory without a file stays where no process shows it (a part of it keeps all of it), large pages are in no
  // process's count, and locked ones are taken from all programs.
  constexpr std::uint32_t kind = MAP_TYPE | MAP_HUGETLB | MAP_LOCKED;
  table.allow_if(SYS_mmap, {has(3, kind, MAP_PRIVATE)});
  table.allow_if(SYS_mmap, {has(3, kind | MAP_ANONYMOUS, MAP_SHARED)});
  table.allow_each(SYS_madvise, 2,
                   {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_REMOVE,
                    MADV_DONTFORK, MADV_DOFORK, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP, MADV_DODUMP,
                    MADV_WIPEONFORK, MADV_KEEPONFORK, advise_populate_read, advise_populate_write, advise_collapse});
  table.refuse(SYS_madvise, EINVAL); // as advice that a Linux does not know
}

void add_threads(Table& table, bool sees_others, bool is_bound) {
  // A thread, or a copy of the process as of fork(). No name spaces, and no two processes with one memory.
  constexpr std::uint32_t numbers = CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | CLONE_SETTLS;
  constexpr std::uint32_t thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  table.allow_if(SYS_clone, {has(0, ~(numbers | CLONE_SYSVSEM | CLONE_DETACHED), thread)});
  table.allow_if(SYS_clone, {has(0, ~numbers, SIGCHLD)});
  table.refuse(call_clone3, ENOSYS); // its flags lie in memory; libraries fall back to clone
  table.allow({SYS_futex, SYS_set_robust_list, SYS_set_tid_address, SYS_rseq, SYS_sched_yield, SYS_getcpu, SYS_exit,
               SYS_exit_group, SYS_execve, SYS_wait4, SYS_waitid});
  table.allow({SYS_sched_getaffinity, SYS_sched_getscheduler, SYS_sched_getparam, SYS_sched_get_priority_max,
               SYS_sched_get_priority_min});
  if (is_bound)
    table.refuse(SYS_sched_setaffinity, without_effect);
  else if (sees_others)
    table.allow_each(SYS_sched_setaffinity, 0, {0, static_cast<std::uint32_t>(getpid())});
  else
    table.allow({SYS_sched_setaffinity});
}

void add_signals(Table& table, bool sees_others) {
  // Linux forgets the processor time of children whose parent ignores SIGCHLD.
  table.allow_if(SYS_rt_sigaction, {is_null(1)});
  table.refuse(SYS_rt_sigaction, EPERM, {is(0, SIGCHLD)});
  table.allow({SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_rt_sigsuspend,
               SYS_rt_sigtimedwait, SYS_sigaltstack, SYS_restart_syscall});
  if (!sees_others) return table.allow({SYS_kill, SYS_tkill, SYS_tgkill});
  // A filter cannot know which processes the kernel will start, so that it cannot signal these either.
  const auto self = static_cast<std::uint32_t>(getpid());
  table.allow_each(SYS_kill, 0, {0, self}); // 0: its own group
  table.allow_each(SYS_tgkill, 0, {self});
}

void add_time(Table& table) {
  table.allow({SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_nanosleep, SYS_times, SYS_getrusage});
  table.allow_each(SYS_clock_nanosleep, 0, {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME});
  table.allow({SYS_ppoll, SYS_pselect6});
}

/// Landlock holds all writing to the scratch folder.
void add_files(Table& table) {
  table.refuse(SYS_openat, EPERM, {has(2, O_ACCMODE, O_ACCMODE)}); // no right to read or write is asked for
  table.allow_if(SYS_openat, {has_only(2, open_flags)});
  table.allow({SYS_read, SYS_pread64, SYS_readv, SYS_preadv, SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev,
               SYS_lseek, SYS_close, call_close_range, SYS_dup, SYS_dup3});
  table.allow({SYS_fstat, SYS_newfstatat, SYS_statx, SYS_statfs, SYS_fstatfs, SYS_faccessat, call_faccessat2,
               SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_chdir, SYS_fchdir});
  table.allow({SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_ftruncate});
  table.allow_if(SYS_renameat2, {is(4, 0)});
  table.allow_if(SYS_pipe2, {has_only(1, O_CLOEXEC | O_NONBLOCK)});
  table.allow_each(SYS_fcntl, 1, {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL});
  table.allow_if(SYS_fcntl, {is(1, F_SETFL), has_only(2, O_WRONLY | O_RDWR | O_APPEND | O_NONBLOCK | large_file)});
  table.allow_each(SYS_ioctl, 1, {TCGETS, get_terminal, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONCLEX, FIONBIO});
}

void add_the_rest(Table& table) {
  table.allow({SYS_getpid, SYS_gettid, SYS_getppid, SYS_getpgid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid,
               SYS_uname, SYS_sysinfo, SYS_getrandom});
  // The judge's own limit of address space is set after the filter. No limit can be raised.
  table.allow_if(SYS_prlimit64, {is(0, 0), is_null(2)});
  table.allow_if(SYS_prlimit64, {is(0, 0), is(1, RLIMIT_AS)});
  table.allow_each(SYS_prctl, 0, {PR_SET_NAME, PR_GET_NAME, name_memory, sve_get_length, sme_get_length});
  // The judge's channel. With an address, or with descriptors, a message would go elsewhere.
  table.allow_if(SYS_sendto, {is_null(4)});
  table.allow_if(SYS_recvfrom, {is_null(4)});
  // Libraries do without these where Linux lacks them.
  for (const long call : {SYS_memfd_create, SYS_membarrier, SYS_get_mempolicy, SYS_set_mempolicy, SYS_mbind,
                          SYS_mincore, SYS_execveat, SYS_copy_file_range, SYS_preadv2, SYS_pwritev2})
    table.refuse(call, ENOSYS);
}

#if defined(__x86_64__)
/// Calls that other machines do not have, because a newer one does the same; and the registers of this machine.
void add_old_calls(Table& table) {
  table.refuse(SYS_open, EPERM, {has(1, O_ACCMODE, O_ACCMODE)});
  table.allow_if(SYS_open, {has_only(1, open_flags)});
  table.allow({SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_dup2, SYS_pipe, SYS_mkdir, SYS_rmdir, SYS_unlink,
               SYS_rename, SYS_poll, SYS_select, SYS_fork, SYS_pause, SYS_time, SYS_getrlimit, SYS_getpgrp});
  enum : std::uint32_t { set_gs = 0x1001, set_fs, get_fs, get_gs, supported = 0x1021, permitted, permit };
  // The last three are for matrix tiles (AMX).
  table.allow_each(SYS_arch_prctl, 0, {set_gs, set_fs, get_fs, get_gs, supported, permitted, permit});
  table.refuse(SYS_arch_prctl, EINVAL); // as what a processor does not have
}
#endif

} // namespace

std::span<const CallRow> allowed_calls(bool sees_others, bool is_bound) {
  static Table table; // not on the heap, where a kernel would find it in memory that it allocates
  table = {};
  add_memory(table);
  add_threads(table, sees_others, is_bound);
  add_signals(table, sees_others);
  add_time(table);
  add_files(table);
  add_the_rest(table);
#if defined(__x86_64__)
  add_old_calls(table);
#endif
  return table.rows();
}

} // namespace tessera::judge
