#pragma once

/// The table of TESSERA_PROFILE=summary.

#include <string>
#include <vector>

#include <tessera/tools.hpp>

namespace tessera::tools {

/// What the calls of one name, backend and type add up to. Times are seconds.
struct Totals {
  long calls = 0;
  long failed = 0;
  double host_seconds = 0;   ///< of the calls, by the host's clock
  double device_seconds = 0; ///< of the calls that were timed on the device
  long timed_on_device = 0;
  double bytes = 0;
  double operations = 0; ///< floating-point operations

  /// True where the device timed every call. Otherwise the host's time counts.
  bool by_device() const { return timed_on_device == calls && calls > 0; }
  double seconds() const { return by_device() ? device_seconds : host_seconds; }
};

struct SummaryEntry {
  std::string name;
  Kind kind = Kind::Product;
  std::string backend;
  DType type = DType::F32; ///< of the result; copies and memory have none
  bool within = false;     ///< part of another operation, whose time includes it
  Totals totals;
};

/// Returns the table as text, entries of most time first: operations, and then parts of operations.
std::string summary_table(std::vector<SummaryEntry> entries);

} // namespace tessera::tools
