#pragma once

#include <CLI/App.hpp>

namespace tessera::apps {

/// Parses the command line. False if the program has said what was asked (--help, --version) and is done. Throws
/// InvalidArgument with what is wrong, and the nearest option where one is unknown.
bool parse(CLI::App& app, int argc, char** argv);

} // namespace tessera::apps
