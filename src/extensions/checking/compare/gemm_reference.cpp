#include <tessera/checking/compare.hpp>

#include <algorithm>
#include <map>
#include <new>
#include <numeric>
#include <variant>

#include <tessera/backend.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/matrix_unit_contract.hpp>

#include "comparison.hpp"
#include "core/base/thread_team.hpp"
#include "matrix_unit_bits.hpp"
#include "whole_number_bits.hpp"

namespace tessera {

struct GemmReference::State {
  std::variant<compare::ReferenceProduct<float>, compare::ReferenceProduct<double>>
      product; ///< 16-bit operands are widened to f32
  DType type = DType::F32;
  DType result = DType::F32;
  std::vector<std::uint16_t> gold, canonical;               ///< elements of a 16-bit result
  std::map<Math, std::vector<float>> matrix_unit_bits = {}; ///< the contract's bits in modes of matrix units, widened
  std::vector<double> whole_number_bits = {};               ///< the contract's bits in Math::Int8Units
};

namespace {

using compare::ReferenceProduct;

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(std::max<Index>(m, 0)));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// Checks the call and the list of rows.
void check(const GemmCall& call, const std::vector<Index>& rows) {
  throw_if_failed(check_gemm(call));
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r] < 0 || rows[r] >= call.m || (r > 0 && rows[r] <= rows[r - 1]))
      throw InvalidArgument("reference: row " + std::to_string(rows[r]) +
                            " of the list is not an ascending row of the " + std::to_string(call.m) + " rows of c");
}

double frobenius(const std::vector<compare::VectorNorms>& vectors) {
  compare::Norm2 norm;
  for (const compare::VectorNorms& vector : vectors) norm.add(vector.squares);
  return norm.value();
}

/// Compares pieces of the rows apart and merges them in order, so that the sums do not depend on the number of threads.
/// `bits` are the elements that the kernel's contract promises.
template <class T>
GemmError compare_rows(const ReferenceProduct<T>& product, const std::vector<T>& bits, const void* c, Index ldc,
                       const Arithmetic& arithmetic, DType result, int threads) {
  constexpr std::size_t elements_per_piece = 1 << 16;
  const compare::BoundCoefficients bound =
      compare::bound_coefficients(arithmetic, result, product.shape, product.alpha, product.beta);
  const std::size_t rows = product.rows.size();
  const std::size_t each = std::max<std::size_t>(1, elements_per_piece / static_cast<std::size_t>(product.shape.n + 1));
  std::vector<compare::Comparison<T>> pieces((rows + each - 1) / each, {product, bits, bound, result});
  detail::parallel_for(pieces.size(), threads, [&](std::size_t piece) {
    visit(result, [&]<class R>(std::type_identity<R>) {
      if constexpr (std::is_same_v<Scalar<R>, T>)
        for (std::size_t r = piece * each; r < std::min(rows, (piece + 1) * each); ++r)
          pieces[piece].add_row(r, static_cast<const R*>(c) + product.rows[r] * ldc);
    });
  });
  compare::Comparison<T> whole(product, bits, bound, result);
  for (const compare::Comparison<T>& piece : pieces) whole.merge(piece);
  return whole.finish(frobenius(product.row_norms), frobenius(product.col_norms));
}

std::vector<std::uint16_t> narrowed(const std::vector<float>& elements, DType type) {
  std::vector<std::uint16_t> narrow(elements.size());
  visit(type, [&]<class R>(std::type_identity<R>) {
    if constexpr (sizeof(R) == 2)
      for (std::size_t e = 0; e < elements.size(); ++e) narrow[e] = R(elements[e]).bits;
  });
  return narrow;
}

std::unique_ptr<GemmReference::State> make_state(const GemmCall& call, std::vector<Index> rows, int threads) {
  using State = GemmReference::State;
  const compare::ProductSource source = compare::ProductSource::of(call);
  if (!is_16_bit(call.type) && !is_16_bit(call.result))
    return visit_scalar(call.type, [&]<class T>(std::type_identity<T>) {
      return std::make_unique<State>(
          State{ReferenceProduct<T>(source, std::move(rows), threads), call.type, call.result, {}, {}});
    });
  ReferenceProduct<float> product(source, std::move(rows), threads);
  if (!is_16_bit(call.result))
    return std::make_unique<State>(State{std::move(product), call.type, call.result, {}, {}});
  product.round_results(call.result);
  std::vector<std::uint16_t> gold = narrowed(product.gold, call.result);
  std::vector<std::uint16_t> canonical = narrowed(product.canonical, call.result);
  return std::make_unique<State>(
      State{std::move(product), call.type, call.result, std::move(gold), std::move(canonical)});
}

} // namespace

GemmReference::GemmReference(const GemmCall& call, int threads) : GemmReference(call, all_rows(call.m), threads) {}

GemmReference::GemmReference(const GemmCall& call, std::vector<Index> rows, int threads) try {
  const detail::ContractArithmetic contract;
  check(call, rows);
  if (threads <= 0) threads = default_threads();
  state_ = make_state(call, std::move(rows), threads);
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for the reference of a product with m = " + std::to_string(call.m) +
                    ", n = " + std::to_string(call.n) + "; compare fewer rows");
}

GemmReference::~GemmReference() = default;
GemmReference::GemmReference(GemmReference&&) noexcept = default;
GemmReference& GemmReference::operator=(GemmReference&&) noexcept = default;

void GemmReference::add_bits(const GemmCall& call, int threads) try {
  const detail::ContractArithmetic contract;
  throw_if_failed(check_gemm(call));
  const auto is_own = [&](const auto& x) {
    return call.type == state_->type && call.result == state_->result && call.shape() == x.shape &&
           call.alpha == x.alpha && call.beta == x.beta;
  };
  if (!std::visit(is_own, state_->product))
    throw InvalidArgument("add_bits: the call is " + std::string(to_string(call.type)) +
                          " with m = " + std::to_string(call.m) + ", n = " + std::to_string(call.n) +
                          ", k = " + std::to_string(call.k) + ", which is not the reference's own product");
  if (call.type == DType::F64 && call.math == Math::Int8Units) {
    if (state_->whole_number_bits.empty())
      state_->whole_number_bits = compare::whole_number_bits(call, rows(), threads > 0 ? threads : default_threads());
    return;
  }
  if (!detail::hopper::has_matrix_unit_contract(call.type, call.math))
    throw InvalidArgument("add_bits: " + std::string(to_string(call.type)) + " in math mode " +
                          std::string(to_string(call.math)) +
                          " has no contract of its own; f32 has one in tf32, bf16, fp16, emulated_fp16x3, "
                          "emulated_bf16x6 and scaled_fp16, f64 in int8_units, bf16 in bf16, f16 in fp16");
  if (state_->matrix_unit_bits.contains(call.math)) return;
  state_->matrix_unit_bits[call.math] =
      compare::matrix_unit_bits(call, rows(), threads > 0 ? threads : default_threads());
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for the bits of a product with n = " + std::to_string(call.n) +
                    "; compare fewer rows");
}

GemmError GemmReference::compare(const void* c, Index ldc, const Arithmetic& arithmetic, int threads) const {
  const detail::ContractArithmetic contract;
  return std::visit(
      [&]<class T>(const ReferenceProduct<T>& product) {
        if (arithmetic.type != state_->type)
          throw InvalidArgument("compare: the reference is " + std::string(to_string(state_->type)) +
                                ", the kernel's type " + std::string(to_string(arithmetic.type)));
        const std::vector<T>* bits = &product.canonical;
        if constexpr (std::is_same_v<T, float>)
          if (const auto known = state_->matrix_unit_bits.find(arithmetic.math);
              known != state_->matrix_unit_bits.end() && arithmetic.summation == Summation::HopperUnits)
            bits = &known->second;
        if constexpr (std::is_same_v<T, double>)
          if (!state_->whole_number_bits.empty() && arithmetic.summation == Summation::WholeNumbers)
            bits = &state_->whole_number_bits;
        return compare_rows(product, *bits, c, ldc, arithmetic, state_->result,
                            threads > 0 ? threads : default_threads());
      },
      state_->product);
}

namespace {
Index n_of(const GemmReference::State& state) {
  return std::visit([](const auto& product) { return product.shape.n; }, state.product);
}
} // namespace

const std::vector<Index>& GemmReference::rows() const {
  return std::visit([](const auto& product) -> const std::vector<Index>& { return product.rows; }, state_->product);
}

const void* GemmReference::gold(Index r) const {
  if (!state_->gold.empty()) return state_->gold.data() + r * n_of(*state_);
  return std::visit([&](const auto& product) -> const void* { return product.gold.data() + r * product.shape.n; },
                    state_->product);
}
const void* GemmReference::canonical(Index r) const {
  if (!state_->canonical.empty()) return state_->canonical.data() + r * n_of(*state_);
  return std::visit([&](const auto& product) -> const void* { return product.canonical.data() + r * product.shape.n; },
                    state_->product);
}

} // namespace tessera
