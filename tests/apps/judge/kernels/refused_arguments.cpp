/// Makes system calls that a computation needs, with arguments that it does not need. It puts -1 into C(0, 0) if one of
/// them was not refused.
#include <fcntl.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <string>

#include "product.hpp"
#include "refused.hpp"

static void try_memory(Attempts& attempts) {
  const auto map = [](int flags) {
    void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
    return mapped == MAP_FAILED ? -1L : 0L;
  };
  attempts.must_be_refused("mmap MAP_SHARED without a file", map(MAP_SHARED | MAP_ANONYMOUS));
  attempts.must_be_refused("mmap MAP_HUGETLB", map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB));
  attempts.must_be_refused("mmap MAP_LOCKED", map(MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED));
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (const int advice : {12 /* MERGEABLE */, 20 /* COLD */, 21 /* PAGEOUT */}) {
    const long result = madvise(page, 4096, advice);
    if (result == -1 && errno == EINVAL) errno = EPERM; // as if Linux did not know it
    attempts.must_be_refused(("madvise " + std::to_string(advice)).c_str(), result);
  }
}

static void try_processes(Attempts& attempts) {
  const int self = getpid();
  // Without a stack for the new process these would go on on the stack of this one, so that they end at once.
  const auto clone_with = [&](const char* what, unsigned long flags) {
    const long result = syscall(SYS_clone, flags, nullptr, nullptr, nullptr, nullptr);
    if (result == 0 && getpid() != self) _exit(0);
    attempts.must_be_refused(what, result);
  };
  clone_with("clone CLONE_NEWUSER", CLONE_NEWUSER | SIGCHLD);
  clone_with("clone CLONE_NEWNS", CLONE_NEWNS | SIGCHLD);
  clone_with("clone CLONE_NEWPID", CLONE_NEWPID | SIGCHLD);
  clone_with("clone CLONE_NEWCGROUP", CLONE_NEWCGROUP | SIGCHLD);
  clone_with("clone CLONE_PARENT", CLONE_PARENT | SIGCHLD);
  clone_with("clone CLONE_FILES", CLONE_FILES | SIGCHLD);
  clone_with("clone without SIGCHLD", 0);
  clone_with("clone CLONE_VM | CLONE_VFORK", CLONE_VM | CLONE_VFORK | SIGCHLD);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  attempts.must_be_refused("sigaction SIGCHLD", sigaction(SIGCHLD, &ignore, nullptr));
  struct sigaction forget {};
  forget.sa_flags = SA_NOCLDWAIT;
  attempts.must_be_refused("sigaction SIGCHLD, SA_NOCLDWAIT", sigaction(SIGCHLD, &forget, nullptr));
  for (const int option :
       {PR_SET_DUMPABLE, PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER, PR_SET_SECCOMP, PR_SET_TIMERSLACK, PR_SET_MM,
        PR_SET_TSC, 0x59616d61 /* PR_SET_PTRACER */, 59 /* PR_SET_SYSCALL_USER_DISPATCH */, 62 /* PR_SCHED_CORE */})
    attempts.must_be_refused(("prctl " + std::to_string(option)).c_str(), prctl(option, 1, 0, 0, 0));
  const rlimit limit{64, 64};
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_RTTIME})
    attempts.must_be_refused(("setrlimit " + std::to_string(resource)).c_str(), setrlimit(resource, &limit));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_max != RLIM_INFINITY) {
    space.rlim_cur = space.rlim_max += 4096;
    attempts.must_be_refused("setrlimit RLIMIT_AS upward", setrlimit(RLIMIT_AS, &space));
  }
  attempts.must_be_refused("prlimit of the parent", prlimit(getppid(), RLIMIT_NOFILE, nullptr, nullptr));
  const timespec moment{0, 1};
  for (const clockid_t clock : {CLOCK_REALTIME_ALARM, CLOCK_BOOTTIME_ALARM})
    attempts.must_be_refused(("clock_nanosleep " + std::to_string(clock)).c_str(),
                             syscall(SYS_clock_nanosleep, clock, 0, &moment, nullptr));
}

static void try_files(Attempts& attempts) {
  const std::string path = std::string(std::getenv("TMPDIR")) + "/file";
  const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  for (const int flag : {O_DIRECT, O_ASYNC, O_PATH, O_NOATIME, O_SYNC})
    attempts.must_be_refused(("open with flag " + std::to_string(flag)).c_str(), open(path.c_str(), O_RDWR | flag));
  attempts.must_be_refused("open O_TMPFILE", open(std::getenv("TMPDIR"), O_RDWR | O_TMPFILE, 0600));
  attempts.must_be_refused("open without reading or writing", open(path.c_str(), O_ACCMODE));
  struct flock lock {};
  lock.l_type = F_WRLCK;
  attempts.must_be_refused("fcntl F_SETLK", fcntl(file, F_SETLK, &lock));
  attempts.must_be_refused("fcntl F_OFD_SETLK", fcntl(file, F_OFD_SETLK, &lock));
  attempts.must_be_refused("fcntl F_SETOWN", fcntl(file, F_SETOWN, getpid()));
  attempts.must_be_refused("fcntl F_SETSIG", fcntl(file, F_SETSIG, SIGUSR1));
  attempts.must_be_refused("fcntl F_SETLEASE", fcntl(file, F_SETLEASE, F_WRLCK));
  attempts.must_be_refused("fcntl F_NOTIFY", fcntl(open("/tmp", O_RDONLY), F_NOTIFY, DN_CREATE));
  attempts.must_be_refused("fcntl F_SETFL, O_ASYNC", fcntl(file, F_SETFL, O_ASYNC));
  attempts.must_be_refused("fcntl F_SETFL, O_DIRECT", fcntl(file, F_SETFL, O_DIRECT));
  attempts.must_be_refused("fcntl F_ADD_SEALS", fcntl(4, F_ADD_SEALS, F_SEAL_WRITE));
  int ends[2];
  attempts.must_be_refused("pipe2 O_DIRECT", pipe2(ends, O_DIRECT));
  attempts.must_be_refused("fcntl F_SETPIPE_SZ", pipe(ends) == 0 ? fcntl(ends[0], F_SETPIPE_SZ, 1 << 20) : 0);
  termios settings{};
  int number = 1;
  attempts.must_be_refused("ioctl TCSETS", ioctl(1, TCSETS, &settings));
  for (const unsigned long request : {TIOCSTI, TIOCSCTTY, TIOCSPGRP, TIOCSWINSZ, TIOCNOTTY, FIOASYNC, FIOSETOWN})
    attempts.must_be_refused(("ioctl " + std::to_string(request)).c_str(), ioctl(1, request, &number));
  close(file);
}

static void try_the_channel(Attempts& attempts) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  attempts.must_be_refused("sendto with an address", sendto(3, "", 1, MSG_DONTWAIT, to, sizeof address));
  sockaddr_un from{};
  socklen_t size = sizeof from;
  char byte = 0;
  attempts.must_be_refused("recvfrom with an address",
                           recvfrom(3, &byte, 1, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&from), &size));
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  Attempts attempts;
  try_memory(attempts);
  try_processes(attempts);
  try_files(attempts);
  try_the_channel(attempts);
  if (attempts.failures() > 0) c[0] = -1;
}
