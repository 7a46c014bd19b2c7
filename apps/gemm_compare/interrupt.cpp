#include "interrupt.hpp"

#include <unistd.h>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>

namespace tessera::compare_app {
namespace {

struct Handler {
  std::mutex mutex;
  std::function<void(int)> leave = [](int status) { _exit(status); };
};

/// The handler is never destroyed, because the watching thread lives until the process ends.
Handler& handler() {
  static auto* one = new Handler;
  return *one;
}

void watch(const sigset_t& signals) {
  int signal = 0;
  if (sigwait(&signals, &signal) != 0) return;
  std::lock_guard lock(handler().mutex);
  handler().leave(128 + signal);
}

} // namespace

void watch_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr); // later threads inherit it
  try {
    std::thread(watch, signals).detach();
  } catch (const std::system_error&) { // the system has no thread for it: the signals end the program, as by default
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
}

void on_interrupt(std::function<void(int)> leave) {
  std::lock_guard lock(handler().mutex);
  handler().leave = std::move(leave);
}

} // namespace tessera::compare_app
