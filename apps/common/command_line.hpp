#pragma once

#include <CLI/App.hpp>

namespace tessera::apps {

/// Parses the command line. Returns false if it printed the answer to --help or --version, after which the program is
/// done; lines of --help fit the terminal, or 100 columns where stdout is none. Throws InvalidArgument with what is
/// wrong; for an unknown option also with the nearest known one.
bool parse(CLI::App& app, int argc, char** argv);

} // namespace tessera::apps
