#pragma once

/// Calls a lesson's kernel in the judge's sandbox, and keeps what it did with C.

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/mistake.hpp"
#include "diagnosis/observation.hpp"
#include "gemm_judge/judge.hpp"

namespace tessera::lessons {

/// How a kernel is run.
struct Limits {
  double seconds = 10;                       ///< for each call
  std::size_t memory = std::size_t{1} << 30; ///< beyond the operands, in bytes
  int threads = 1;
  bool races = true;         ///< false: the kernel is marked and counted, and not timed
  std::string judge_program; ///< path of gemm_judge; empty: beside this program
};

/// The elements of the operands.
enum class Data {
  WholeNumbers, ///< small ones of both signs, whose sums are exact
  Positive,     ///< between 1/2 and 1, whose sums round
};

/// What came of calls with equal operands.
struct Calls {
  std::vector<Observation> seen; ///< one for each call that returned
  Finding finding;               ///< why there are fewer, or what is wrong around the operands
  std::string output;            ///< what the kernel printed
  double seconds = 0;            ///< of the fastest call
};

/// Calls the kernel `count` times with equal operands. `first_rows_of_a`: elements of A, row by row, in place of drawn
/// ones. Throws IoError if there is no sandbox to run it in.
Calls call_kernel(const judge::KernelFile& kernel, const Case& tried, const Limits& limits, int count = 2,
                  Data data = Data::WholeNumbers, const std::vector<double>* first_rows_of_a = nullptr);

/// Puts the end of a trial into a learner's words.
Finding ending_in_words(judge::Offence offence, const std::string& why);

} // namespace tessera::lessons
