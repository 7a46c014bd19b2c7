#pragma once

/// Checks the results of one product. The check costs less than the race that computed the results.
///
/// The reference compares element by element, but it needs as many operations as a kernel. It therefore compares some
/// rows of a large product, and Freivalds' check judges all of C in O(n²):
///   - up to 512³ multiplications, the reference compares every element (see `always_referenced`);
///   - for larger products it compares as many rows as it can compute in the time of the race, at least 16, and
///     Freivalds' check follows;
///   - with --check-rows N or all it compares N or all rows, whatever they cost, and Freivalds' check follows unless
///     every row was compared.
/// Bits of kernels that promise them are compared in the same rows.

#include <memory>
#include <optional>

#include <tessera/checking/compare.hpp>
#include <tessera/checking/freivalds.hpp>

#include "options/options.hpp"
#include "race/progress.hpp"

namespace tessera::compare_app {

class ProductCheck {
 public:
  /// `call`: the operands in host memory, with C as it was before the product. They must outlive this object.
  ProductCheck(const GemmCall& call, const Options& options, Progress& progress);

  /// Adds seconds to the time of the race. Only calls before the first check() have an effect.
  void add_race(double seconds) { race_seconds_ += seconds; }

  struct Findings {
    GemmError error;
    std::optional<FreivaldsResult> freivalds; ///< present if `error` covers only some rows
  };
  /// Checks the result `c` in host memory, m×n with leading dimension `ldc`.
  Findings check(const void* c, Index ldc, const Arithmetic& arithmetic);

 private:
  const GemmReference& reference(const Arithmetic& arithmetic);
  const FreivaldsCheck& freivalds();

  const GemmCall call_;
  const Options& options_;
  Progress& progress_;
  double race_seconds_ = 0;
  std::unique_ptr<GemmReference> reference_;
  std::unique_ptr<FreivaldsCheck> freivalds_;
};

} // namespace tessera::compare_app
