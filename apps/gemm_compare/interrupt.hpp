#pragma once

#include <functional>

namespace tessera::compare_app {

/// Starts a thread that waits for SIGINT and SIGTERM and then ends the process with the exit status of the signal (130,
/// 143), whatever the other threads are doing. Call it before any other thread is started: they inherit the signal
/// mask.
void watch_interrupts();

/// Sets the function that the thread calls at a signal instead of ending the process at once. `leave` must end the
/// process with the given status.
void on_interrupt(std::function<void(int status)> leave);

} // namespace tessera::compare_app
