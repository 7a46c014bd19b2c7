#pragma once

/// The steps of which a complex product consists: products of real matrices, and operations that bring its operands to
/// them. A product that verifies itself does each step in a way of its own.

#include <string_view>

#include <tessera/complex.hpp>

#include "core/gemm/verified.hpp"

namespace tessera::detail {

class ComplexSteps {
 public:
  ComplexSteps(Executor& executor, Queue& queue, std::string_view kernel)
      : executor_(executor), queue_(queue), kernel_(kernel) {}
  virtual ~ComplexSteps() = default;

  /// Multiplies real matrices. `place` says where the result lies in the complex one.
  virtual Status multiply(const GemmCall& call, const ResultPlace& place) {
    static_cast<void>(place);
    return executor_.gemm(queue_, call, kernel_);
  }
  /// Expands, copies or combines complex numbers; `place` says where a combined result lies.
  virtual Status map(const MapCall& call, const ResultPlace& place) {
    static_cast<void>(place);
    return executor_.map(queue_, call);
  }

  Executor& executor() const { return executor_; }
  Queue& queue() const { return queue_; }
  std::string_view kernel() const { return kernel_; }

 private:
  Executor& executor_;
  Queue& queue_;
  std::string_view kernel_;
};

/// Multiplies by these steps, in the order that complex.hpp says. The call has been checked.
Status multiply_by_steps(ComplexSteps& steps, const ComplexGemmCall& call);

} // namespace tessera::detail
