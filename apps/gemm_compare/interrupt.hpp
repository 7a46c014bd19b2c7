#pragma once

#include <functional>

namespace tessera::compare_app {

/// From now on SIGINT and SIGTERM are handled by a thread of their own, whatever the others are doing: it leaves with
/// the exit status that belongs to the signal (130, 143). Call it before any other thread is started.
void watch_interrupts();

/// What to do instead of leaving at once. `leave` must end the process.
void on_interrupt(std::function<void(int status)> leave);

} // namespace tessera::compare_app
