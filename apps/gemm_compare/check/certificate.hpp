#pragma once

/// gemm_compare --check: a certificate of a product in files.

#include "options/options.hpp"

namespace tessera::compare_app {

/// Prints the certificate of the files of options.check, and writes it as JSON where that is asked for. Returns whether
/// C is right. Throws IoError and InvalidArgument.
bool print_certificate(const Options& options);

} // namespace tessera::compare_app
