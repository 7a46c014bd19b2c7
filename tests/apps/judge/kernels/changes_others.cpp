/// Changes what belongs to the user beside the contents of files: the mode, owner, times, attributes and locks of the
/// file $TESSERA_TEST_FILE, what the server at $TESSERA_TEST_SOCKET has to read, and the settings of the terminal
/// $TESSERA_TEST_TERMINAL, whose input it reads. It prints what was not refused.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <cstdlib>
#include <cstring>

#include "product.hpp"
#include "refused.hpp"

static void try_file(Attempts& attempts, const char* path) {
  const int file = open(path, O_RDONLY);
  const timespec times[2] = {{1, 0}, {1, 0}};
  attempts.must_be_refused("chmod", chmod(path, 0777));
  attempts.must_be_refused("fchmod", fchmod(file, 0777));
  attempts.must_be_refused("fchmodat", fchmodat(AT_FDCWD, path, 0777, 0));
  attempts.must_be_refused("chown", chown(path, getuid(), getgid()));
  attempts.must_be_refused("utimensat", utimensat(AT_FDCWD, path, times, 0));
  attempts.must_be_refused("futimens", futimens(file, times));
  attempts.must_be_refused("setxattr", setxattr(path, "user.owned", "yes", 3, 0));
  attempts.must_be_refused("removexattr", removexattr(path, "user.mine"));
  attempts.must_be_refused("flock", flock(file, LOCK_EX | LOCK_NB));
  attempts.must_be_refused("truncate", truncate(path, 0));
  attempts.must_be_refused("unlink", unlink(path));
  close(file);
}

static void try_server(Attempts& attempts, const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path, sizeof address.sun_path - 1);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  int ends[2];
  const int made = socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
  attempts.must_be_refused("socketpair", made);
  // Without a socket of its own it has the one to the judge.
  const int socket_here = made == 0 ? ends[0] : 3;
  attempts.must_be_refused("sendto", sendto(socket_here, "taken", 6, MSG_DONTWAIT, to, sizeof address));
  attempts.must_be_refused("connect", connect(made == 0 ? ends[1] : 3, to, sizeof address));
  attempts.must_be_refused("socket", socket(AF_UNIX, SOCK_DGRAM, 0));
}

static void try_terminal(Attempts& attempts, const char* path) {
  attempts.must_be_refused("open a terminal for writing", open(path, O_RDWR | O_NOCTTY));
  const int terminal = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  attempts.must_be_refused("open a terminal", terminal);
  if (terminal < 0) return;
  termios settings{};
  if (tcgetattr(terminal, &settings) == 0) settings.c_lflag ^= ECHO;
  attempts.must_be_refused("change a terminal", tcsetattr(terminal, TCSANOW, &settings));
  char typed[16];
  attempts.must_be_refused("read from a terminal", read(terminal, typed, sizeof typed));
  attempts.must_be_refused("take a terminal", ioctl(terminal, TIOCSCTTY, 0));
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  Attempts attempts;
  if (const char* path = std::getenv("TESSERA_TEST_FILE")) try_file(attempts, path);
  if (const char* path = std::getenv("TESSERA_TEST_SOCKET")) try_server(attempts, path);
  if (const char* path = std::getenv("TESSERA_TEST_TERMINAL")) try_terminal(attempts, path);
  if (attempts.failures() > 0) c[0] = -1;
}
