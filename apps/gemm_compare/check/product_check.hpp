#pragma once

/// What the results of one product are held against, at a cost below that of the race they come from.
///
/// The reference compares element by element, but costs as many operations as a kernel; so large products have some
/// rows compared, and Freivalds' check judges the whole in O(n²). Nothing is left out where that is cheap anyway:
///   - n ≤ 512: every element (see `always_referenced`);
///   - beyond, as many rows as the reference does in the time of the race, at least 16, and Freivalds;
///   - --check-rows N or all: so many rows, whatever they cost, and Freivalds unless they are all.

#include <memory>
#include <optional>

#include <tessera/compare.hpp>
#include <tessera/freivalds.hpp>

#include "options/options.hpp"
#include "race/progress.hpp"

namespace tessera::compare_app {

class ProductCheck {
 public:
  /// `call`: the operands in host memory, C as it was before the product; they must stay.
  ProductCheck(const GemmCall& call, const Options& options, Progress& progress);

  /// So many more seconds were raced; what was said before the first result is checked counts.
  void add_race(double seconds) { race_seconds_ += seconds; }

  struct Findings {
    GemmError error;
    std::optional<FreivaldsResult> freivalds; ///< if `error` is of some rows alone
  };
  /// A result in host memory.
  Findings check(const void* c, Index ldc, const Arithmetic& arithmetic);

 private:
  const GemmReference& reference();
  const FreivaldsCheck& freivalds();

  const GemmCall call_;
  const Options& options_;
  Progress& progress_;
  double race_seconds_ = 0;
  std::unique_ptr<GemmReference> reference_;
  std::unique_ptr<FreivaldsCheck> freivalds_;
};

} // namespace tessera::compare_app
