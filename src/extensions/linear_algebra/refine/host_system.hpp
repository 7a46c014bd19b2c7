#pragma once

/// A system that is refined in host memory, with products on any backend.

#include <optional>

#include <tessera/linear_algebra/options.hpp>

#include "extensions/linear_algebra/products.hpp"
#include "system.hpp"

namespace tessera::linear_algebra {

template <class T>
class HostSystem final : public RefinedSystem<T> {
 public:
  /// `a` must outlive it; there are `count` right-hand sides. `math` is the mode of the factorisation's products;
  /// `options` have none.
  HostSystem(const Matrix<T>& a, Index count, const SolveOptions& options, Math math);

  void factor() override;
  void solve() override;
  void subtract_product() override;
  Matrix<double> multiply_magnitudes(const Matrix<double>& z) override;

 private:
  using Small = Narrow<T>;
  struct Factors {
    Matrix<Small> packed;
    Matrix<Small> turned; ///< U as the lower triangle that it is when rows and columns are counted from the last
  };

  /// Row i of A, as a row of the parts of its numbers.
  const double* parts(Index i) const { return reinterpret_cast<const double*>(a_.at(i, 0)); }
  Matrix<Small> narrowed() const;

  Index n_;
  Block<const T> a_;
  Matrix<T> solution_, residual_;
  Matrix<Small> unknowns_;
  SolveOptions options_;
  Math math_;
  Products<T> products_;
  std::optional<Factors> factors_;
};

} // namespace tessera::linear_algebra
