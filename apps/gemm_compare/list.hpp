#pragma once

#include "options/options.hpp"

namespace tessera::compare_app {

/// Prints every kernel of every built backend, even if its device is missing, and the operations of --op. If
/// options.json names a file, the list is written there as JSON; "-" is stdout, without the text.
void list_kernels(const Options& options);

} // namespace tessera::compare_app
