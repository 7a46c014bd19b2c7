#pragma once

/// Variables of the environment that name code or files.

#include <cstdlib>

namespace tessera {

/// Returns the value of a variable that names code or files: a plug-in folder, a library, a table, a cache. It is null
/// if the variable is unset, and always in a program that runs with more rights than its caller has (setuid, setgid,
/// file capabilities: AT_SECURE), because the caller could then run code, or have files read and written, with rights
/// that are not the caller's own. Other variables, such as numbers of threads, are read with std::getenv.
///
/// Source: secure_getenv(3).
inline const char* trusted_variable(const char* name) noexcept { return ::secure_getenv(name); }

} // namespace tessera
