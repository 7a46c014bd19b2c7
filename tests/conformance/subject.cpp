#include "subject.hpp"

#include <cstdlib>
#include <string_view>

namespace tessera::conformance {
namespace {

Options chosen;

} // namespace

Options parse_options(int argc, char** argv) {
  Options parsed;
  bool ours = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word(argv[i]);
    constexpr std::string_view backend = "--backend=";
    if (word == "--")
      ours = true;
    else if (ours && word.starts_with(backend))
      parsed.backend = parse_backend(word.substr(backend.size()));
    else if (ours && word == "--quick")
      parsed.quick = true;
    else if (ours)
      throw InvalidArgument("unknown argument '" + std::string(word) + "'; known: --backend=NAME, --quick");
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
