#include <tessera/backend/log.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <tessera/detail/printable.hpp>

namespace tessera {

bool log_dispatch() noexcept {
  static const bool enabled = [] {
    const char* topics = std::getenv("TESSERA_LOG");
    return topics != nullptr && std::string_view(topics).find("dispatch") != std::string_view::npos;
  }();
  return enabled;
}

void log_line(const std::string& line) noexcept {
  std::fprintf(stderr, "tessera: %s\n", detail::printable(line).c_str());
}

} // namespace tessera
