#pragma once

/// A tuning table made ready for looking up: a row of the ladder for each product, in nanoseconds.

#include <array>
#include <memory>
#include <vector>

#include <tessera/tuning.hpp>

namespace tessera::detail {

/// Sizes are told apart by the power of two that is nearest. A product takes the row that was fastest for the nearest
/// measured one of its type and mode, if no size differs by more than a factor of two (in these powers).
class TunedRows {
 public:
  /// Rows that the ladder lacks, and rows that would change bits, are left out.
  TunedRows(const TuningTable& table, std::span<const GemmKernel> ladder);

  /// Null if nothing near was measured.
  const GemmKernel* find(const GemmCall& call) const noexcept;

 private:
  static constexpr int powers = 18; ///< up to 2¹⁷

  struct Kind {
    DType type;
    Math math;
    std::vector<const GemmKernel*> rows; ///< of each m, n, k
  };
  static int power_of(Index size) noexcept;
  static std::size_t place(int m, int n, int k) noexcept {
    const Index index = (Index{m} * powers + n) * powers + k;
    return static_cast<std::size_t>(index);
  }
  std::vector<Kind> kinds_;
};

/// The table of this machine: see tuning.hpp for where it is looked for. Null if there is none. Throws IoError if
/// TESSERA_TUNING names one that cannot be used; one that was merely found is passed over, which TESSERA_LOG=dispatch
/// shows. `beside`: the folder of the plug-in.
std::shared_ptr<const TunedRows> find_tuned_rows(const Executor& executor, const std::filesystem::path& beside);

} // namespace tessera::detail
