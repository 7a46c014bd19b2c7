#pragma once

/// The backend under test and the one it is measured against.

#include <tessera/backend.hpp>
#include <tessera/executor.hpp>

namespace tessera::conformance {

struct Options {
  Backend backend = Backend::Reference;
  bool quick = false;    ///< a reduced set of cases, for slow tools
  std::size_t every = 1; ///< of the products, each so many-th alone, for tools slower still
};

/// Reads what follows "--" on the command line. Throws InvalidArgument.
Options parse_options(int argc, char** argv);

/// Is the backend named in TESSERA_REQUIRE, a list of names parted by commas?
bool required(Backend backend);

/// Set once, before any test runs.
void choose(const Options& options);
const Options& options();

Executor& subject();
Executor& reference();

} // namespace tessera::conformance
