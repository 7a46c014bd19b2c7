#include <tessera/checking/freivalds.hpp>

#include <new>
#include <variant>

#include <tessera/backend.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/executor.hpp>

#include "row_check.hpp"

namespace tessera {

using compare::ElementSource;
using compare::lanes;

struct FreivaldsCheck::State {
  DType type = DType::F32;
  DType result = DType::F32;
  GemmShape shape;
  double alpha = 1, beta = 0;
  Index bundles = 1;
  std::variant<compare::RowCheck<float>, compare::RowCheck<double>> rows;
};

namespace {

ElementSource source(const void* data, DType type, Index ld, Index rows, Index cols, Op op) {
  const bool flipped = op != Op::None;
  return {static_cast<CheckedType>(type), data, rows, cols, flipped ? 1 : ld, flipped ? ld : 1};
}

FreivaldsResult summary_of(const std::vector<double>& over, Index vectors) {
  FreivaldsResult found;
  found.vectors = static_cast<int>(vectors);
  found.rows = static_cast<Index>(over.size());
  for (std::size_t i = 0; i < over.size(); ++i) {
    if (over[i] < 0) continue;
    ++found.rows_judged;
    if (over[i] <= found.max_over_bound) continue;
    found.max_over_bound = over[i];
    found.worst_row = static_cast<Index>(i);
  }
  return found;
}

} // namespace

FreivaldsCheck::FreivaldsCheck(const GemmCall& call, std::uint64_t seed, int vectors, int threads) try {
  const detail::ContractArithmetic contract;
  throw_if_failed(check_gemm(call));
  if (vectors < 1)
    throw InvalidArgument("Freivalds: " + std::to_string(vectors) + " vectors; there must be at least 1");
  if (threads <= 0) threads = default_threads();
  const compare::RowProblem problem{.a = source(call.a, call.type, call.lda, call.m, call.k, call.op_a),
                                    .b = source(call.b, call.type, call.ldb, call.k, call.n, call.op_b),
                                    .c_before = source(call.c, call.result, call.ldc, call.m, call.n, Op::None),
                                    .alpha = call.alpha,
                                    .beta = call.beta,
                                    .result = call.result};
  const Index bundles = (vectors + lanes - 1) / lanes;
  state_ = visit_scalar(call.type, [&]<class T>(std::type_identity<T>) {
    return std::make_unique<State>(
        State{call.type, call.result, call.shape(), call.alpha, call.beta, bundles,
              compare::RowCheck<T>(problem, bundles, seed, compare::Sums::Precise, threads)});
  });
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for a Freivalds check of a product with m = " + std::to_string(call.m) +
                    ", n = " + std::to_string(call.n) + ", k = " + std::to_string(call.k));
}

FreivaldsCheck::~FreivaldsCheck() = default;
FreivaldsCheck::FreivaldsCheck(FreivaldsCheck&&) noexcept = default;
FreivaldsCheck& FreivaldsCheck::operator=(FreivaldsCheck&&) noexcept = default;

FreivaldsResult FreivaldsCheck::check(const void* c, Index ldc, const Arithmetic& arithmetic, int threads) const {
  const detail::ContractArithmetic contract;
  if (arithmetic.type != state_->type)
    throw InvalidArgument("Freivalds: the product is " + std::string(to_string(state_->type)) + ", the kernel's type " +
                          std::string(to_string(arithmetic.type)));
  if (threads <= 0) threads = default_threads();
  const compare::BoundCoefficients bound =
      compare::bound_coefficients(arithmetic, state_->result, state_->shape, state_->alpha, state_->beta);
  const ElementSource result = source(c, state_->result, ldc, state_->shape.m, state_->shape.n, Op::None);
  return std::visit(
      [&](const auto& rows) { return summary_of(rows.check(result, bound, threads), state_->bundles * lanes); },
      state_->rows);
}

} // namespace tessera
