#pragma once

/// What tessera_info shows without --json.

#include <string>

#include <nlohmann/json.hpp>

namespace tessera::info_app {

/// Which kernels the text has.
enum class KernelText {
  None,
  Counts, ///< how many each backend has
  All     ///< a record for each
};

/// Prints the report: the machine, the backends with their devices or the reasons why they are missing, and kernels.
/// Lines fit the terminal; elsewhere each record is one line.
void print_report(const nlohmann::ordered_json& report, KernelText kernels);

/// Returns the value of a key, as a terminal may show it.
std::string text_of(const nlohmann::ordered_json& json, const char* key);

} // namespace tessera::info_app
