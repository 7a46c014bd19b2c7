#include "notes.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>

#include <tessera/detail/printable.hpp>

namespace tessera::apps {
namespace {

/// While an object of this class lives, this thread gets no SIGPIPE. Other threads, and stdout, keep what they have.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() noexcept {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutPipeSignal() {
    constexpr timespec at_once{0, 0};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

} // namespace

void open_standard_streams() noexcept {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF) open("/dev/null", O_RDONLY); // it gets the lowest free number
}

void note_text(std::string_view text) noexcept {
  const int error = errno;
  {
    const WithoutPipeSignal quiet;
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }
  errno = error;
}

void note_error(const char* program, const std::exception& error) noexcept {
  try {
    note("{}: {}\n", program, detail::printable(error.what(), true));
  } catch (const std::exception&) { // out of memory
    note_text(program);
    note_text(": there is no memory for the error's text\n");
  }
}

} // namespace tessera::apps
