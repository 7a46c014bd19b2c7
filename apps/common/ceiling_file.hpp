#pragma once

/// The JSON file that keeps ceilings: a list of machines, each with its fingerprint and its measured rows.

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "ceilings.hpp"

namespace tessera::apps {

/// The file exists, but it cannot be read or understood; what() says why.
class CeilingFileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns $XDG_CACHE_HOME/tessera/ceilings.json, or that file in ~/.cache; empty if neither XDG_CACHE_HOME nor HOME
/// names a folder.
std::filesystem::path ceiling_file();

/// Returns what a kept measurement depends on. For a host backend: the processor, its instruction sets and caches, and
/// how many processors the process may use. For a device: its name, driver, compute capability, multiprocessors and
/// memory sizes.
nlohmann::ordered_json fingerprint(const Capabilities& capabilities);

/// Returns the rows of the machine with this fingerprint; none if there is no file or no such machine in it. Throws
/// CeilingFileError.
std::vector<CeilingRow> load_ceilings(const std::filesystem::path& file, const nlohmann::ordered_json& fingerprint);

/// Writes rows of the machine with this fingerprint. They replace its rows with an equal place
/// (CeilingRow::same_place); its other rows and the other machines stay. A file that cannot be understood is replaced.
/// Returns false if the file cannot be written.
bool store_ceilings(const std::filesystem::path& file, const nlohmann::ordered_json& fingerprint,
                    const std::vector<CeilingRow>& rows) noexcept;

} // namespace tessera::apps
