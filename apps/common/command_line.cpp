#include "command_line.hpp"

#include <sstream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

#include "terminal.hpp"
#include "wrapped_text.hpp"

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
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.empty())
      throw InvalidArgument(
          fmt::format("the argument after '{}' is empty; give a value, or leave the option out", argv[i - 1]));
    if (word.starts_with("--") && word.ends_with('='))
      throw InvalidArgument(fmt::format("'{}' has no value; give one, or leave the option out", word));
  }
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::Success& request) { // --help, --version
    std::ostringstream text;
    app.exit(request, text, text);
    constexpr std::size_t columns_of_a_file = 100;
    const std::size_t width = terminal_width(stdout);
    print_to_stdout(wrapped_lines(text.str(), width > 0 ? width : columns_of_a_file));
    return false;
  } catch (const CLI::ExtrasError&) {
    const std::string word = app.remaining(true).front(); // of the program or of the subcommand that was given
    std::vector<std::string> known = known_words(app);
    for (const CLI::App* command : app.get_subcommands())
      for (std::string& more : known_words(*command)) known.push_back(std::move(more));
    throw InvalidArgument(fmt::format("unknown argument '{}'; did you mean '{}'? --help lists all", word,
                                      nearest_word(word.substr(0, word.find('=')), known)));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(error.what());
  }
}

} // namespace tessera::apps
