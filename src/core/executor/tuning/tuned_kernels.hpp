#pragma once

/// A tuning table in a form that gives the kernel for a product within nanoseconds.

#include <array>
#include <memory>
#include <vector>

#include <tessera/performance/tuning.hpp>

namespace tessera::detail {

/// Sizes are rounded to the nearest power of two. A product gets the kernel that was fastest for the nearest measured
/// product of its type and mode, if no rounded size differs by more than a factor of two.
class TunedKernels {
 public:
  /// Leaves out kernels that the ladder lacks, and kernels that would change bits.
  TunedKernels(const TuningTable& table, std::span<const GemmKernel> ladder, const Capabilities& machine);

  /// Returns the kernel for a product; null if no product near it was measured.
  const GemmKernel* find(const GemmCall& call) const noexcept;

 private:
  static constexpr int powers = 18; ///< sizes up to 2¹⁷

  struct Kind {
    DType type;
    Math math;
    std::vector<const GemmKernel*> kernels; ///< for each m, n, k; null where nothing near was measured
  };
  static int power_of(Index size) noexcept;
  static std::size_t place(int m, int n, int k) noexcept {
    const Index index = (Index{m} * powers + n) * powers + k;
    return static_cast<std::size_t>(index);
  }
  std::vector<Kind> kinds_;
};

/// Returns the table of this machine; null if there is none. tuning.hpp says where it is searched for; `beside` is the
/// folder of the plug-in. Throws IoError if TESSERA_TUNING names a table that cannot be used. Another table that cannot
/// be used is ignored, which TESSERA_LOG=dispatch shows.
std::shared_ptr<const TunedKernels> find_tuned_kernels(const Executor& executor, const std::filesystem::path& beside);

} // namespace tessera::detail
