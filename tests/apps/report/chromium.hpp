#pragma once

/// Shows a page in headless Chromium, as a person's browser would.

#include <optional>
#include <string>
#include <vector>

namespace tessera::report::testing {

/// Returns the browser's program, or nothing if there is none on PATH.
std::optional<std::string> find_chromium();

struct Visit {
  int status = 0;
  std::string dom;     ///< The page's DOM after the load event.
  std::string console; ///< Lines that the page, or the browser about the page, wrote to the console.
};

/// Opens a page in a fresh profile.
Visit visit(const std::string& chromium, const std::string& page, const std::vector<std::string>& options);

} // namespace tessera::report::testing
