#pragma once

/// What TESSERA_BACKEND names: the backend of calls that leave the choice to Backend::Auto.

#include <tessera/executor.hpp>

namespace tessera {

/// Returns the backend that TESSERA_BACKEND names; Auto where the variable is unset, empty or "auto". The variable is
/// read until its word is valid, and kept from then on. Throws InvalidArgument with the variable, its value and the
/// known words.
Backend backend_of_environment();

/// Returns the executor of the backend that TESSERA_BACKEND names; null where it names none. Nothing falls back from
/// it: throws BackendUnavailable with the variable, its value, the reason and the backends that are available.
Executor* executor_of_environment();

} // namespace tessera
