#pragma once

/// The library's way where matrices stay on a device: what a program gets that has its data there.

#include <memory>

#include <tessera/executor.hpp>
#include <tessera/linear_algebra/options.hpp>

#include "problem.hpp"
#include "system_run.hpp"

namespace tessera::compare_app {

/// Says whether the library computes the operation wholly on the executor's device.
bool stays_on_device(const Executor& executor, SystemKind kind);

/// Brings copies of the work's matrices, by rows, to the device, on which compute() works in place. The options name
/// the executor's backend. Throws OutOfMemory where the device has no room for them.
template <class T>
std::unique_ptr<SystemRun<T>> run_on_device(SystemKind kind, const SystemData<T>& data, SystemWork<T>& work,
                                            const SolveOptions& options, Executor& executor);

} // namespace tessera::compare_app
