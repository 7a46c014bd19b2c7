#pragma once

/// From the command line's words to checked options.

#include <string>
#include <vector>

#include "options.hpp"

namespace tessera::compare_app {

/// Words as they were typed; empty where an option was not given.
struct CommandLine {
  bool cpu = false;
  bool gpu = false;
  bool list = false;
  bool errors = false;
  bool trans_a = false;
  bool trans_b = false;
  bool no_progress = false;
  bool fail_on_slower = false;
  bool measure_ceilings = false;
  bool tunes = false;
  std::vector<std::string> backends, shapes, judged;
  std::string abi, device, judged_math, judged_flags, judged_time_limit, judged_memory_limit;
  std::string kernels, cblas, operation, sizes, dtypes, result, maths, alpha, beta, distribution, seed;
  std::string file_a, file_b, file_c, file_out;
  std::string threads, repeat, timing, check_rows, time_limit, preset, table, budget, json, csv, html, markdown, report;
  std::vector<std::string> diff; ///< old and new
};

/// Throws InvalidArgument.
Options interpret(CommandLine words);

} // namespace tessera::compare_app
