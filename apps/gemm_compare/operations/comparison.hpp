#pragma once

/// Compares what an operation wrote and returned with what it wrote and returned on the reference backend.

#include <cstddef>
#include <string>
#include <vector>

#include <tessera/checking/compare.hpp>

#include "arrays.hpp"

namespace tessera::compare_app {

/// The results of one run: what the arrays hold that the operation writes or updates, as OperationArrays::copy_out()
/// gives them, and what it returned. An array that is only read is empty.
struct OperationResults {
  std::vector<std::vector<std::byte>> arrays;
  OperationValue value;

  /// Reads the results of a run on one set. Throws Error.
  static OperationResults of(const OperationArrays& arrays, std::size_t set, Executor& executor,
                             const OperationValue& value);
};

struct OperationFindings {
  /// `max_over_bound` is the largest distance over entry.ulps; infinite where no distance is allowed and bits differ.
  /// Numbers that are about products are NaN. The first array's rows come first in `rows`.
  GemmError error;
  std::string reason; ///< which element is wrong and how; empty if none is
};

/// Compares all elements. Two elements are alike if their bits are equal or both are NaN; else they may be as many
/// units in the last place apart as the operation says.
OperationFindings compare_results(const OperationArrays& layout, const OperationResults& expected,
                                  const OperationResults& found);

} // namespace tessera::compare_app
