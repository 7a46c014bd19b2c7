#include "subject.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "test_all.hpp"

namespace tessera::conformance {
namespace {

Options chosen;

std::size_t whole_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0)
    throw InvalidArgument("--every=" + std::string(text) + ": give a whole number from 1");
  return number;
}

} // namespace

Options parse_options(int argc, char** argv) {
  Options parsed;
  bool ours = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    constexpr std::string_view backend = "--backend=";
    constexpr std::string_view every = "--every=";
    if (word == "--")
      ours = true;
    else if (ours && word.starts_with(backend))
      parsed.backend = parse_backend(word.substr(backend.size()));
    else if (ours && word == "--quick")
      parsed.quick = true;
    else if (ours && word == "--part")
      parsed.quick = !test::everything_is_tested();
    else if (ours && word.starts_with(every))
      parsed.every = test::everything_is_tested() ? 1 : whole_number(word.substr(every.size()));
    else if (ours)
      throw InvalidArgument("unknown argument '" + std::string(word) +
                            "'; known: --backend=NAME, --quick, --part, --every=N");
  }
  if (parsed.backend == Backend::Auto) throw InvalidArgument("--backend=auto: name the backend that is to be tested");
  return parsed;
}

bool required(Backend backend) {
  const char* list = std::getenv("TESSERA_REQUIRE");
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    if (parse_backend(word) == backend) return true;
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return false;
}

void choose(const Options& options) { chosen = options; }
const Options& options() { return chosen; }

Executor& subject() { return executor(chosen.backend); }
Executor& reference() { return executor(Backend::Reference); }

} // namespace tessera::conformance
