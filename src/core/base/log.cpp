#include <tessera/backend/log.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>

#include <tessera/detail/printable.hpp>

#include "unknown_word.hpp"

namespace tessera {
namespace {

constexpr std::string_view dispatch_topic = "dispatch";

/// Reads TESSERA_LOG, words with ',' between them. Says once what is no topic, because a program with a misspelt topic
/// would look as if there were nothing to log.
bool wants_dispatch() noexcept try {
  const char* const variable = std::getenv("TESSERA_LOG");
  bool wanted = false;
  for (std::string_view rest = variable != nullptr ? variable : ""; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    wanted |= word == dispatch_topic;
    if (!word.empty() && word != dispatch_topic)
      log_line("TESSERA_LOG: " + unknown_word("topic", word, {std::string(dispatch_topic)}));
  }
  return wanted;
} catch (const std::bad_alloc&) {
  return false; // there was no memory to complain
}

} // namespace

bool log_dispatch() noexcept {
  static const bool enabled = wants_dispatch();
  return enabled;
}

void log_line(const std::string& line) noexcept try {
  std::fprintf(stderr, "tessera: %s\n", detail::printable(line).c_str());
} catch (const std::bad_alloc&) {
  std::fputs("tessera: there is no memory for a line of the log\n", stderr);
}

} // namespace tessera
