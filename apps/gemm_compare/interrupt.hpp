#pragma once

#include <functional>

namespace tessera::compare_app {

/// Makes SIGINT and SIGTERM wait for watch_interrupts(). Call it before any thread is started: they inherit it.
void hold_interrupts();

/// From now on calls `leave` from a thread of its own with the exit status that belongs to the signal (130, 143),
/// whatever the other threads are doing. `leave` must end the process.
void watch_interrupts(std::function<void(int status)> leave);

} // namespace tessera::compare_app
