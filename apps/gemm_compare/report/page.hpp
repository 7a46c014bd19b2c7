#pragma once

/// The sections of the page that are no charts.

#include <string>

#include "document.hpp"

namespace tessera::report {

/// Counts of verdicts, the fastest entries, and the largest error against its bound.
std::string summary_section(const Run& run);
/// Every failing entry with its reason and the command that shows it again; empty if there is none.
std::string failures_section(const Run& run);
/// Every entry, sortable and with filters.
std::string table_section(const Run& run);
/// The machine, its devices, versions, backends that were missing, and the command.
std::string machine_section(const Run& run);

} // namespace tessera::report
