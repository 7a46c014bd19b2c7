#pragma once

/// Marks, counts and times a lesson on factors.

#include <filesystem>
#include <optional>
#include <span>

#include "gemm_judge/kernel_file.hpp"
#include "marking.hpp"
#include "problem.hpp"

namespace tessera::lessons {

/// Returns the matrices that every lesson on factors is tried on, the easy ones first.
std::span<const FactorCase> factor_cases();

/// Returns what is wrong with a result, or Mistake::None. `got`: n + 1 rows of n numbers, of which the last has the
/// pivots.
Finding diagnose_factors(Work work, const FactorProblem& problem, const std::vector<double>& got);

struct FactorMark {
  Finding finding;   ///< None: right in all cases
  std::string where; ///< the case in which it showed
  int right = 0;     ///< cases before it
  std::string output;
};

FactorMark mark_factors(const Lesson& lesson, const judge::KernelFile& kernel, const Limits& limits);

/// Returns what the lesson's counter counts in one call of the file's function; none where it cannot be called.
std::optional<double> count_factors(const Lesson& lesson, const std::filesystem::path& file, const Limits& limits);

/// Returns the seconds of the fastest of some calls in f32, or 0.
double time_factors(const Lesson& lesson, const judge::KernelFile& kernel, const Limits& limits);

} // namespace tessera::lessons
