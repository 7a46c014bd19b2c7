#pragma once

/// One case, with its operands in the executor's memory and the expected result.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bound.hpp"
#include "cases.hpp"
#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {

template <class T>
class Problem {
 public:
  explicit Problem(const Case& x);

  const Case& parameters() const { return case_; }
  /// Says whether the case applies to a kernel: modes that round to a short format promise nothing about subnormal
  /// numbers, except for the bits where they have a contract.
  bool concerns(const GemmKernel& kernel) const;
  /// Runs the named kernel, or the executor's own choice if not `by_name`, and checks everything. Returns an empty
  /// string, or what is wrong. Sets `rejection` where the kernel does not take the case.
  std::string check(const GemmKernel& kernel, bool by_name, std::optional<std::string>& rejection);

 private:
  GemmCall call(const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc, Math math) const;
  const std::vector<T>& contract_bits(const GemmKernel& kernel);
  const std::vector<ExactElement>& exact();
  std::string compare(const GemmKernel& kernel, const GemmCall& call, Guarded<T>& c);

  Case case_;
  Guarded<T> a_, b_;
  std::vector<T> before_;                        ///< C as it was, without gaps; not read if beta is zero
  std::map<Math, std::vector<T>> contract_bits_; ///< by the mode of the contract
  std::vector<ExactElement> exact_;
};

extern template class Problem<float>;
extern template class Problem<double>;

} // namespace tessera::conformance
