#pragma once

#include "options/options.hpp"

namespace tessera::compare_app {

/// Every kernel of every built backend, also of those whose device is missing; as JSON if options.json says where.
void list_kernels(const Options& options);

} // namespace tessera::compare_app
