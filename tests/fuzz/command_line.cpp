/// Reads the input as the command line of gemm_compare: one argument a line. Arguments that print or open files are
/// left out, because the input must not choose which files this program opens.

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <tessera/status.hpp>

#include "options/options.hpp"
#include "target.hpp"

namespace {

bool is_left_out(std::string_view argument) {
  static constexpr std::array words{"-h", "--help", "--version", "--a", "--b", "--c", "--op-plugin"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return argument == word || (argument.starts_with(word) && argument.substr(word.size()).starts_with('='));
  });
}

} // namespace

TESSERA_FUZZ_TARGET(command_line) {
  std::vector<std::string> arguments{"gemm_compare"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string argument(text.substr(at, end - at).substr(0, text.substr(at, end - at).find('\0')));
    if (is_left_out(argument)) return;
    arguments.push_back(argument);
    at = end + 1;
  }
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  try {
    const auto options = tessera::compare_app::parse_options(static_cast<int>(arguments.size()), argv.data());
    if (!options) return;
    for (const tessera::GemmShape& shape : options->shapes)
      tessera::fuzz::require(shape.m >= 0 && shape.n >= 0 && shape.k >= 0, "a shape with negative sizes");
    tessera::fuzz::require(options->repeat > 0 && options->time_limit >= 0, "runs without end or beginning");
  } catch (const tessera::Error&) {
    return; // a clear refusal
  }
}
