#include <tessera/compare.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <variant>

#include <tessera/backend.hpp>

#include "bound.hpp"
#include "product.hpp"

namespace tessera {

struct GemmReference::State {
  std::variant<compare::Product<float>, compare::Product<double>> product;
};

namespace {

using compare::BoundCoefficients;
using compare::Product;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool same_bits(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }
bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

/// Both NaN, or equal.
template <class T>
bool same_value(T x, T y) {
  return std::isnan(x) ? std::isnan(y) : x == y;
}

/// Compares element after element with one product and keeps the totals.
template <class T>
class Comparison {
 public:
  Comparison(const Product<T>& product, const Arithmetic& arithmetic)
      : product_(product), bound_(compare::bound_coefficients(arithmetic, product.k, product.alpha, product.beta)) {}

  void add(std::size_t r, Index j, T c) {
    const std::size_t e = product_.at(r, j);
    const T canonical = product_.canonical[e];
    if (!same_bits(c, canonical) && !(std::isnan(c) && std::isnan(canonical))) ++error.differing_bits;
    ++elements_;
    if (product_.exceptional(r, j)) {
      if (!same_value(c, product_.gold[e])) misplace(r, j);
    } else if (std::isfinite(c) && std::isfinite(product_.high[e])) {
      measure(r, j, c);
    } else if (!may_overflow(r, j)) {
      misplace(r, j);
    }
  }

  GemmError finish() {
    error.rows = product_.m;
    error.rows_compared = static_cast<Index>(product_.rows.size());
    error.mean_rel = elements_ > 0 ? sum_rel_ / static_cast<double>(elements_) : 0;
    return error;
  }

 private:
  void measure(std::size_t r, Index j, T c) {
    const std::size_t e = product_.at(r, j);
    const double low = product_.low.empty() ? 0 : product_.low[e];
    const double exact = std::abs(product_.high[e]);
    const double off = std::abs((static_cast<double>(c) - product_.high[e]) - low);
    const double rel = off == 0 ? 0 : off / exact; // infinite for a missed zero
    error.total_abs += std::abs(static_cast<double>(c) - static_cast<double>(product_.gold[e]));
    error.max_abs = std::max(error.max_abs, off);
    error.max_rel = std::max(error.max_rel, rel);
    sum_rel_ += rel;
    judge(r, j, off == 0 ? 0 : off / bound(r, j, exact));
  }

  double bound(std::size_t r, Index j, double exact) const {
    const std::size_t e = product_.at(r, j);
    const double inputs = product_.row_norms[r].sum + product_.col_norms[static_cast<std::size_t>(j)].sum;
    const double old = product_.old.empty() ? 0 : bound_.old * product_.old[e];
    return bound_.product * std::abs(product_.alpha) * product_.magnitude[e] + old + bound_.result * exact +
           bound_.input * std::abs(product_.alpha) * inputs + bound_.constant;
  }

  bool may_overflow(std::size_t r, Index j) const {
    const std::size_t e = product_.at(r, j);
    const double rounded =
        std::max(product_.row_norms[r].largest, product_.col_norms[static_cast<std::size_t>(j)].largest);
    if (rounded >= bound_.largest_input) return true;
    const double old = product_.old.empty() ? 0 : product_.old[e];
    const double way = std::max(1.0, std::abs(product_.alpha)) * product_.magnitude[e] + old;
    return !(way * (1 + bound_.product) < bound_.largest);
  }

  void judge(std::size_t r, Index j, double over_bound) {
    if (over_bound <= error.max_over_bound) return; // NaN goes on
    error.max_over_bound = std::isnan(over_bound) ? infinity : over_bound;
    error.worst_row = product_.rows[r];
    error.worst_col = j;
  }

  void misplace(std::size_t r, Index j) {
    ++error.misplaced;
    error.total_abs = error.max_abs = error.max_rel = sum_rel_ = infinity;
    judge(r, j, infinity);
  }

  const Product<T>& product_;
  const BoundCoefficients bound_;
  GemmError error;
  double sum_rel_ = 0;
  Index elements_ = 0;
};

std::vector<Index> all_rows(Index m) {
  std::vector<Index> rows(static_cast<std::size_t>(std::max<Index>(m, 0)));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

/// A call checked but for C, which is not read unless beta ≠ 0.
void check(const GemmCall& call, const std::vector<Index>& rows) {
  throw_if_failed(check_gemm(call));
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r] < 0 || rows[r] >= call.m || (r > 0 && rows[r] <= rows[r - 1]))
      throw InvalidArgument("reference: row " + std::to_string(rows[r]) +
                            " of the list is not an ascending row of the " + std::to_string(call.m) + " rows of c");
}

} // namespace

GemmReference::GemmReference(const GemmCall& call, int threads) : GemmReference(call, all_rows(call.m), threads) {}

GemmReference::GemmReference(const GemmCall& call, std::vector<Index> rows, int threads) try {
  check(call, rows);
  if (threads <= 0) threads = default_threads();
  state_.reset(call.type == DType::F64 ? new State{compare::Product<double>(call, std::move(rows), threads)}
                                       : new State{compare::Product<float>(call, std::move(rows), threads)});
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for the reference of a product with m = " + std::to_string(call.m) +
                    ", n = " + std::to_string(call.n) + "; compare fewer rows");
}

GemmReference::~GemmReference() = default;
GemmReference::GemmReference(GemmReference&&) noexcept = default;
GemmReference& GemmReference::operator=(GemmReference&&) noexcept = default;

GemmError GemmReference::compare(const void* c, Index ldc, const Arithmetic& arithmetic) const {
  return std::visit(
      [&]<class T>(const Product<T>& product) {
        if (arithmetic.type != dtype_of<T>)
          throw InvalidArgument("compare: the reference is " + std::string(to_string(dtype_of<T>)) +
                                ", the kernel's type " + std::string(to_string(arithmetic.type)));
        Comparison<T> comparison(product, arithmetic);
        for (std::size_t r = 0; r < product.rows.size(); ++r)
          for (Index j = 0; j < product.n; ++j)
            comparison.add(r, j, static_cast<const T*>(c)[product.rows[r] * ldc + j]);
        return comparison.finish();
      },
      state_->product);
}

const std::vector<Index>& GemmReference::rows() const {
  return std::visit([](const auto& product) -> const std::vector<Index>& { return product.rows; }, state_->product);
}

const void* GemmReference::gold(Index r) const {
  return std::visit([&](const auto& product) -> const void* { return product.gold.data() + r * product.n; },
                    state_->product);
}
const void* GemmReference::canonical(Index r) const {
  return std::visit([&](const auto& product) -> const void* { return product.canonical.data() + r * product.n; },
                    state_->product);
}

} // namespace tessera
