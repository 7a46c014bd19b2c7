#include "workload.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>

namespace tessera::judge {
namespace {

constexpr int largest_integer = 8;
constexpr std::size_t wrong_rows_examined = 64;

bool is_small_integer(double x) { return std::trunc(x) == x && std::abs(x) <= 4; }

/// Returns whether Σ|alpha·a·b| + |beta·c| fits the significand, so that no operation rounds.
bool exact_with_integers(const GemmCall& call) {
  const double sum = std::abs(call.alpha) * static_cast<double>(call.k) * largest_integer * largest_integer *
                         growth_of_sums(call.math, call.m, call.n, call.k) +
                     std::abs(call.beta) * largest_integer;
  return is_small_integer(call.alpha) && is_small_integer(call.beta) &&
         sum <= std::ldexp(1.0, element_type(call.type).digits);
}

/// The poison in padding and in results that are not yet written. It is a signalling NaN, which no arithmetic returns,
/// not even an addition to it.
template <class T>
constexpr auto poison = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>(
    sizeof(T) == 8 ? std::uint64_t{0x7ff5a5a57ff5dead} : std::uint64_t{0x7fa5dead});

template <class T>
void fill_poison(std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) std::memcpy(to + i, &poison<T>, sizeof(T));
}

template <class T>
bool is_poison(const T& value) {
  return std::bit_cast<std::remove_const_t<decltype(poison<T>)>>(value) == poison<T>;
}

/// Calls f(row, column, element) for all elements of a row-major matrix.
template <class T, class F>
void for_each(T* x, Index rows, Index cols, Index ld, F&& f) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) f(i, j, x[i * ld + j]);
}

std::vector<Index> shuffled(Index count, std::mt19937_64& random) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), Index{0});
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

Index at_index(const std::vector<Index>& order, Index i) { return order[static_cast<std::size_t>(i)]; }

/// Returns at most `most` of the values, evenly spread, the first and the last among them.
std::vector<Index> spread(const std::vector<Index>& values, std::size_t most) {
  std::vector<Index> chosen;
  const std::size_t count = std::min(values.size(), most);
  for (std::size_t r = 0; r < count; ++r)
    chosen.push_back(values[count == 1 ? 0 : r * (values.size() - 1) / (count - 1)]);
  return chosen;
}

/// A product of small whole numbers, of which doubles hold every sum exactly, beside the result that a kernel gave.
template <class T>
class ExactProduct {
 public:
  /// `call`: the operands, with C as it was before the product. `found`: the kernel's C, m×n with leading dimension
  /// ldc.
  ExactProduct(const GemmCall& call, const T* found) : x_(call), alpha_(call.alpha), beta_(call.beta), found_(found) {}

  /// Returns the rows in which found·v differs from alpha·A·(B·v) + beta·C·v; v has n entries (Freivalds 1977).
  std::vector<Index> wrong_rows(const std::vector<double>& v) const {
    const std::vector<double> expected = alpha_ab_times(v);
    std::vector<Index> wrong;
    for (Index i = 0; i < x_.m; ++i) {
      double found = 0;
      double before = 0;
      for (Index j = 0; j < x_.n; ++j) {
        found += found_at(i, j) * entry(v, j);
        if (beta_ != 0) before += static_cast<double>(x_.c[i * x_.ldc + j]) * entry(v, j);
      }
      if (!(found == entry(expected, i) + beta_ * before)) wrong.push_back(i);
    }
    return wrong;
  }

  /// Compares the given rows element by element.
  Mistakes mistakes_in(const std::vector<Index>& rows) const {
    const Index edge_m = std::min<Index>(128, x_.m / 2);
    const Index edge_n = std::min<Index>(128, x_.n / 2);
    Mistakes mistakes;
    mistakes.only_at_edges = true;
    std::vector<Index> prefixes; // every k < x_.k that explains the first wrong elements, at most 64 of them
    for (const Index i : rows) {
      const std::vector<double> expected = expected_row(i);
      for (Index j = 0; j < x_.n; ++j) {
        const double found = found_at(i, j);
        if (found == entry(expected, j)) continue;
        if (i < x_.m - edge_m && j < x_.n - edge_n) mistakes.only_at_edges = false;
        const auto explains = [&](Index k) { return expected_with(i, j, k) == found; };
        if (mistakes.count == 0) {
          mistakes.row = i;
          mistakes.col = j;
          mistakes.expected = entry(expected, j);
          mistakes.found = found;
          for (Index k = std::max<Index>(1, x_.k - 256); k < x_.k; ++k)
            if (explains(k)) prefixes.push_back(k);
        } else if (mistakes.count < 64) {
          std::erase_if(prefixes, [&](Index k) { return !explains(k); });
        }
        ++mistakes.count;
      }
    }
    if (!prefixes.empty() && mistakes.count >= 4) mistakes.k_of_answer = prefixes.back();
    return mistakes;
  }

 private:
  static double entry(const std::vector<double>& v, Index i) { return v[static_cast<std::size_t>(i)]; }
  double found_at(Index i, Index j) const { return static_cast<double>(found_[i * x_.ldc + j]); }
  double term(Index i, Index p, Index j) const {
    return static_cast<double>(x_.at_a(i, p)) * static_cast<double>(x_.at_b(p, j));
  }
  double beta_c(Index i, Index j) const { return beta_ != 0 ? beta_ * static_cast<double>(x_.c[i * x_.ldc + j]) : 0.0; }

  /// Returns alpha·op(A)·(op(B)·v), m entries, in O(m·k + k·n).
  std::vector<double> alpha_ab_times(const std::vector<double>& v) const {
    std::vector<double> bv(static_cast<std::size_t>(x_.k));
    const auto add_b = [&](Index p, Index j, T e) {
      bv[static_cast<std::size_t>(p)] += static_cast<double>(e) * entry(v, j);
    };
    if (x_.op_b == Op::None)
      for_each(x_.b, x_.k, x_.n, x_.ldb, add_b);
    else
      for_each(x_.b, x_.n, x_.k, x_.ldb, [&](Index j, Index p, T e) { add_b(p, j, e); });
    std::vector<double> sums(static_cast<std::size_t>(x_.m));
    const auto add_a = [&](Index i, Index p, T e) {
      sums[static_cast<std::size_t>(i)] += alpha_ * static_cast<double>(e) * entry(bv, p);
    };
    if (x_.op_a == Op::None)
      for_each(x_.a, x_.m, x_.k, x_.lda, add_a);
    else
      for_each(x_.a, x_.k, x_.m, x_.lda, [&](Index p, Index i, T e) { add_a(i, p, e); });
    return sums;
  }

  /// Returns row i of the right result, n entries.
  std::vector<double> expected_row(Index i) const {
    std::vector<double> row(static_cast<std::size_t>(x_.n));
    for (Index p = 0; p < x_.k; ++p)
      for (Index j = 0; j < x_.n; ++j) row[static_cast<std::size_t>(j)] += term(i, p, j);
    for (Index j = 0; j < x_.n; ++j) {
      double& element = row[static_cast<std::size_t>(j)];
      element = alpha_ * element + beta_c(i, j);
    }
    return row;
  }

  /// Returns what C(i, j) would be if the product ended after the first k terms.
  double expected_with(Index i, Index j, Index k) const {
    double sum = 0;
    for (Index p = 0; p < k; ++p) sum += term(i, p, j);
    return alpha_ * sum + beta_c(i, j);
  }

  const GemmOperands<T> x_;
  const double alpha_;
  const double beta_;
  const T* const found_;
};

/// Calls f(T{}) for the operands' type, which is f32 or f64.
template <class F>
decltype(auto) with_type(DType type, F&& f) {
  return visit_scalar(type, [&]<class T>(std::type_identity<T>) { return f(T{}); });
}

} // namespace

Workload::Workload(const GemmCall& call, const Problem& problem, std::byte* memory)
    : call_(call),
      problem_(problem),
      memory_(memory),
      can_be_exact_(exact_with_integers(call)),
      random_(std::random_device{}()) {}

void Workload::place_integers() {
  with_type(call_.type, [&]<class T>(T) { place_integers_as<T>(); });
}
void Workload::place_permuted() {
  with_type(call_.type, [&]<class T>(T) { place_permuted_as<T>(); });
}
Mistakes Workload::check_integers() {
  return with_type(call_.type, [&]<class T>(T) { return check_integers_as<T>(); });
}

template <class T>
void Workload::place_integers_as() {
  std::uint64_t bits = 0;
  int left = 0;
  const auto draw = [&](Index, Index, T& x) {
    if (left == 0) {
      bits = random_();
      left = 8;
    }
    x = static_cast<T>(static_cast<int>((bits & 0xff) * (2 * largest_integer + 1) >> 8) - largest_integer);
    bits >>= 8;
    --left;
  };
  for (const Region& region : {problem_.a, problem_.b, problem_.c, problem_.result})
    fill_poison<T>(memory_ + region.offset, region.bytes);
  const bool ta = call_.op_a == Op::Transpose;
  const bool tb = call_.op_b == Op::Transpose;
  for_each(at<T>(problem_.a), ta ? call_.k : call_.m, ta ? call_.m : call_.k, problem_.lda, draw);
  for_each(at<T>(problem_.b), tb ? call_.n : call_.k, tb ? call_.k : call_.n, problem_.ldb, draw);
  if (call_.beta != 0) for_each(at<T>(problem_.c), call_.m, call_.n, problem_.ldc, draw);
}

template <class T>
void Workload::place_permuted_as() {
  rows_ = shuffled(call_.m, random_);
  cols_ = shuffled(call_.n, random_);
  for (const Region& region : {problem_.a, problem_.b, problem_.c, problem_.result})
    fill_poison<T>(memory_ + region.offset, region.bytes);
  const GemmOperands<T> x(call_);
  T* a = at<T>(problem_.a);
  T* b = at<T>(problem_.b);
  if (x.op_a == Op::None) {
    for_each(a, x.m, x.k, problem_.lda, [&](Index i, Index p, T& to) { to = x.a[at_index(rows_, i) * x.lda + p]; });
  } else {
    for_each(a, x.k, x.m, problem_.lda, [&](Index p, Index i, T& to) { to = x.a[p * x.lda + at_index(rows_, i)]; });
  }
  if (x.op_b == Op::None) {
    for_each(b, x.k, x.n, problem_.ldb, [&](Index p, Index j, T& to) { to = x.b[p * x.ldb + at_index(cols_, j)]; });
  } else {
    for_each(b, x.n, x.k, problem_.ldb, [&](Index j, Index p, T& to) { to = x.b[at_index(cols_, j) * x.ldb + p]; });
  }
  if (call_.beta != 0)
    for_each(at<T>(problem_.c), x.m, x.n, problem_.ldc,
             [&](Index i, Index j, T& to) { to = x.c[at_index(rows_, i) * x.ldc + at_index(cols_, j)]; });
}

const std::vector<std::byte>& Workload::restored() {
  restored_.resize(static_cast<std::size_t>(call_.m * call_.ldc) * size_of(call_.type));
  with_type(call_.type, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(restored_.data());
    for_each(at<const T>(problem_.result), call_.m, call_.n, problem_.ldc,
             [&](Index i, Index j, T c) { to[at_index(rows_, i) * call_.ldc + at_index(cols_, j)] = c; });
  });
  return restored_;
}

template <class T>
Mistakes Workload::check_integers_as() {
  GemmCall placed = call_;
  placed.a = at<T>(problem_.a);
  placed.b = at<T>(problem_.b);
  placed.c = at<T>(problem_.c);
  placed.lda = problem_.lda;
  placed.ldb = problem_.ldb;
  placed.ldc = problem_.ldc;
  const ExactProduct<T> product(placed, at<const T>(problem_.result));

  // |entries| ≤ 2¹², so that every sum in wrong_rows() is an exact double up to n·k = 2³³.
  std::vector<double> v(static_cast<std::size_t>(call_.n));
  for (double& entry : v) entry = static_cast<double>(static_cast<int>(random_() & 0x1fff) - 0x1000);
  const std::vector<Index> wrong = product.wrong_rows(v);
  return wrong.empty() ? Mistakes{} : product.mistakes_in(spread(wrong, wrong_rows_examined));
}

Index Workload::unwritten() const {
  if (call_.beta != 0) return 0;
  return with_type(call_.type, [&]<class T>(T) {
    Index count = 0;
    for_each(at<const T>(problem_.result), call_.m, call_.n, problem_.ldc,
             [&](Index, Index, const T& c) { count += is_poison(c); });
    return count;
  });
}

Index Workload::not_a_number() const {
  return with_type(call_.type, [&]<class T>(T) {
    Index count = 0;
    for_each(at<const T>(problem_.result), call_.m, call_.n, problem_.ldc,
             [&](Index, Index, const T& c) { count += std::isnan(c) && !is_poison(c); });
    return count;
  });
}

bool Workload::padding_changed() const {
  return with_type(call_.type, [&]<class T>(T) {
    bool changed = false;
    const Index rows = static_cast<Index>(problem_.result.bytes / sizeof(T)) / problem_.ldc;
    for (Index i = 0; i < rows && problem_.ldc > call_.n; ++i)
      for (Index j = call_.n; j < problem_.ldc; ++j)
        changed |= !is_poison(at<const T>(problem_.result)[i * problem_.ldc + j]);
    return changed;
  });
}

std::uint64_t Workload::fingerprint() const {
  const auto* bytes = reinterpret_cast<const char*>(memory_ + problem_.result.offset);
  return std::hash<std::string_view>{}({bytes, problem_.result.bytes});
}

} // namespace tessera::judge
