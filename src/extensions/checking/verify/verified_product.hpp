#pragma once

/// One product that verifies itself: it takes the sums, multiplies, compares, and repairs or says what is wrong.

#include <cstdint>
#include <memory>
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/gemm.hpp>

#include "by_elements.hpp"
#include "core/gemm/verified.hpp"
#include "repair.hpp"
#include "row_sums.hpp"

namespace tessera::verify {

/// The parts of C that are known to be wrong.
struct WrongParts {
  std::vector<Index> rows;    ///< whose sums are off
  std::vector<Index> looked;  ///< rows with a wrong element, or beside such a row, which sums could not judge
  std::vector<Index> columns; ///< with a wrong element, which no sum has
  bool any() const { return !rows.empty() || !looked.empty() || !columns.empty(); }
};

/// What computing a product again has changed.
struct Changes {
  std::uint64_t rows = 0;
  std::uint64_t elements = 0;
};

/// A product whose elements are computed in T.
template <class T>
class VerifiedProduct {
 public:
  /// `place` says where the caller knows C.
  VerifiedProduct(Executor& executor, const GemmCall& call, const GemmOptions& options, const GemmKernel& kernel,
                  const detail::ResultPlace& place)
      : executor_(executor), call_(call), options_(options), arithmetic_(Arithmetic::of(kernel)), place_(place) {}

  /// Does all of it, and returns what it found. Throws what gemm() throws, and DataCorruption.
  VerifyCounts run();

 private:
  void keep_c();
  void copy_c(char* to) const;
  VerifyCounts verify_written();
  WrongParts check() const;
  Changes compute_again();
  [[noreturn]] void refuse(const WrongParts& wrong) const;

  std::size_t bytes_of_c() const { return static_cast<std::size_t>(call_.m) * row_bytes(); }
  std::size_t row_bytes() const { return static_cast<std::size_t>(call_.n) * size_of(call_.result); }
  char* row_of_c(Index row) const {
    return static_cast<char*>(call_.c) + static_cast<std::size_t>(row * call_.ldc) * size_of(call_.result);
  }

  Executor& executor_;
  GemmCall call_;
  const GemmOptions& options_;
  Arithmetic arithmetic_;
  detail::ResultPlace place_;
  HostCopy before_{nullptr, nullptr}; ///< C as it was, without gaps between its rows; null: beta is 0
  std::unique_ptr<RowSums<T>> sums_;
};

extern template class VerifiedProduct<float>;
extern template class VerifiedProduct<double>;

} // namespace tessera::verify
