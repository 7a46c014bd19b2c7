#pragma once

/// Turns the words of the command line into checked options.

#include <string>
#include <vector>

#include "options.hpp"

namespace tessera::compare_app {

/// The words of the options as they were typed; empty for options that were not given.
struct CommandLine : PlainOptions {
  bool cpu = false;
  bool gpu = false;
  bool all_modes = false;
  bool trans_a = false;
  bool trans_b = false;
  bool no_progress = false;
  bool check = false;
  std::string lens;
  std::string grids, block;
  std::vector<std::string> backends, shapes, judged;
  std::string abi, device, judged_math, judged_flags, judged_time_limit, judged_memory_limit;
  std::string kernels, cblas, operation, sizes, dtypes, result, maths, alpha, beta, ld_pad, seed;
  std::string memory_limit, resume, devices;
  std::string file_c_before, file_bias, file_residual, activation, vectors;
  std::string threads, repeat, timing, check_rows, time_limit, preset, table, budget;
  std::string columns, width;
  std::vector<std::string> diff; ///< two files: the old report and the new one
};

/// Checks the words and returns what they mean. Throws InvalidArgument with what is wrong and the nearest valid word.
Options interpret(CommandLine words);

} // namespace tessera::compare_app
