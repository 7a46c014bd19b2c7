#include "command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::apps {
namespace {

/// Returns the names of all options, with --, and of all subcommands.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

} // namespace

bool parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) { // --help, --version
    app.exit(request);
    return false;
  } catch (const CLI::ExtrasError&) {
    const std::string word = app.remaining().front();
    throw InvalidArgument(fmt::format("unknown argument '{}'; did you mean '{}'? --help lists all", word,
                                      nearest_word(word.substr(0, word.find('=')), known_words(app))));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(error.what());
  }
}

} // namespace tessera::apps
