#pragma once

/// The file in which ceilings are kept: JSON, a list of machines, each with the fingerprint of what was measured.

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "ceilings.hpp"

namespace tessera::apps {

/// The file is there and says nothing that we understand; what() says why.
class CeilingFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// $XDG_CACHE_HOME/tessera/ceilings.json, or in ~/.cache; empty if neither variable names a folder.
std::filesystem::path ceiling_file();

/// What must be the same for a measurement to hold: of a host backend the processor, its features and caches and the
/// processors that may be used; of a device its name, driver and size.
nlohmann::ordered_json fingerprint(const Capabilities& capabilities);

/// Empty if there is no file or no such machine in it. Throws CeilingFileError.
std::vector<CeilingRow> load_ceilings(const std::filesystem::path& file, const nlohmann::ordered_json& fingerprint);

/// Puts rows in the place of the same ones of that machine, and keeps what the file says of others. A file that is not
/// understood is replaced. False if it cannot be written.
bool store_ceilings(const std::filesystem::path& file, const nlohmann::ordered_json& fingerprint,
                    const std::vector<CeilingRow>& rows) noexcept;

} // namespace tessera::apps
