#include "interrupt.hpp"

#include <csignal>
#include <thread>

namespace tessera::compare_app {
namespace {

sigset_t interrupts() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

} // namespace

void hold_interrupts() {
  const sigset_t set = interrupts();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void watch_interrupts(std::function<void(int)> leave) {
  std::thread([leave = std::move(leave)] {
    const sigset_t set = interrupts();
    int signal = 0;
    if (sigwait(&set, &signal) == 0) leave(128 + signal);
  }).detach();
}

} // namespace tessera::compare_app
