#pragma once

/// Headless Chromium, as a person's browser would show a page.

#include <optional>
#include <string>
#include <vector>

namespace tessera::report::testing {

/// The browser's program; nothing if there is none on PATH.
std::optional<std::string> find_chromium();

struct Visit {
  int status = 0;
  std::string dom;     ///< after the load event
  std::string console; ///< lines that the page, or the browser about it, wrote to the console
};

/// Opens a page in a fresh profile.
Visit visit(const std::string& chromium, const std::string& page, const std::vector<std::string>& options);

} // namespace tessera::report::testing
