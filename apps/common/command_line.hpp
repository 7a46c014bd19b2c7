#pragma once

#include <CLI/App.hpp>

namespace tessera::apps {

/// Parses the command line. Returns false if it printed the answer to --help or --version, after which the program is
/// done. Throws InvalidArgument with what is wrong; for an unknown option also with the nearest known one.
bool parse(CLI::App& app, int argc, char** argv);

} // namespace tessera::apps
