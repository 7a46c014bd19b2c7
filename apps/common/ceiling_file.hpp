#pragma once

/// The JSON file that keeps ceilings: a list of machines, each with its fingerprint and its measured entries.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "ceilings.hpp"

namespace tessera::apps {

/// The file exists, but it cannot be read or understood; what() says why.
class CeilingFileError : public std::runtime_error {
 public:
  explicit CeilingFileError(const std::string& why, bool replaceable = true)
      : std::runtime_error(why), replaceable_(replaceable) {}
  /// Says whether the file may be replaced. It stays if it is no file, cannot be read, or belongs to another version.
  bool replaceable() const noexcept { return replaceable_; }

 private:
  bool replaceable_;
};

/// Returns $XDG_CACHE_HOME/tessera/ceilings.json, or that file in ~/.cache; empty if neither XDG_CACHE_HOME nor HOME
/// names a folder.
std::filesystem::path ceiling_file();

/// Returns what a kept measurement depends on. For a host backend: the processor, its instruction sets and caches, and
/// how many processors the process may use. For a device: its name, driver, compute capability, multiprocessors and
/// memory sizes.
nlohmann::ordered_json fingerprint(const Capabilities& capabilities);

/// Returns the entries of the machine with this fingerprint; none if there is no file or no such machine in it. Throws
/// CeilingFileError.
std::vector<CeilingEntry> load_ceilings(const std::filesystem::path& file, const nlohmann::ordered_json& fingerprint);

/// Writes entries of the machine with this fingerprint. They replace its entries with an equal place
/// (CeilingEntry::same_place); its other entries and the other machines stay. A file that cannot be understood is
/// replaced if it may be. Returns why the file was not written; empty if it was.
std::string store_ceilings(const std::filesystem::path& file, const nlohmann::ordered_json& fingerprint,
                           const std::vector<CeilingEntry>& entries);

} // namespace tessera::apps
