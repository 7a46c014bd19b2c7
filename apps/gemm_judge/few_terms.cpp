#include "few_terms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "elements.hpp"
#include "fresh_data.hpp"

namespace tessera::judge {
namespace {

/// Elements of one row of op(A), or of one column of op(B).
template <class T>
struct Line {
  T* first = nullptr;
  Index step = 1, length = 0;
  T& operator[](Index p) const { return first[p * step]; }
};

template <class T>
Line<T> row_of_a(const GemmCall& call, T* a, Index i) {
  const bool turned = call.op_a == Op::Transpose;
  return {a + (turned ? i : i * call.lda), turned ? call.lda : 1, call.k};
}
template <class T>
Line<T> column_of_b(const GemmCall& call, T* b, Index j) {
  const bool turned = call.op_b == Op::Transpose;
  return {b + (turned ? j * call.ldb : j), turned ? 1 : call.ldb, call.k};
}

template <class T>
void leave_few(const Line<T>& line, std::mt19937_64& random) {
  constexpr Index most = 8;
  const bool one = random() % 4 != 0, power_of_two = one && random() % 2 == 0;
  const Index terms = one ? 1 : std::min(line.length, 2 + static_cast<Index>(random() % (most - 1)));
  std::vector<std::pair<Index, T>> kept;
  while (static_cast<Index>(kept.size()) < terms) {
    const auto p = static_cast<Index>(random() % static_cast<std::uint64_t>(line.length));
    if (line[p] == T(0)) line[p] = T(1);
    if (std::none_of(kept.begin(), kept.end(), [&](const auto& term) { return term.first == p; }))
      kept.emplace_back(p, power_of_two ? std::copysign(std::ldexp(T(1), std::ilogb(line[p])), line[p]) : line[p]);
  }
  for (Index p = 0; p < line.length; ++p) line[p] = 0;
  for (const auto& [p, element] : kept) line[p] = element;
}

template <class T>
class FewTermsCheck {
 public:
  FewTermsCheck(const GemmCall& placed, const T* found) : x_(placed), call_(placed), found_(found) {}

  /// Checks C(i, j), whose other terms are zero. Returns whether it is right; why() says what is wrong.
  bool is_right(Index i, Index j, const std::vector<Index>& terms) {
    Wide<T> sum = 0, size = 0;
    int count = 0;
    for (const Index p : terms) {
      const Wide<T> product = static_cast<Wide<T>>(x_.at_a(i, p)) * static_cast<Wide<T>>(x_.at_b(p, j));
      sum += product;
      size += std::abs(product);
      count += product != 0;
    }
    const bool plain = std::abs(call_.alpha) == 1 && call_.beta == 0;
    sum *= static_cast<Wide<T>>(x_.alpha);
    size *= static_cast<Wide<T>>(std::abs(x_.alpha));
    if (x_.beta != 0) {
      const Wide<T> before = static_cast<Wide<T>>(x_.beta) * static_cast<Wide<T>>(x_.c[i * x_.ldc + j]);
      sum += before;
      size += std::abs(before);
    }
    const bool exact = plain && count <= 1 && static_cast<Wide<T>>(static_cast<T>(sum)) == sum;
    const auto roundings = static_cast<Wide<T>>(count <= 1 && plain ? count : plain ? count + 1 : count + 4);
    // The hundredth is for products of roundings, and for this sum's own roundings.
    const Wide<T> bound = exact ? 0
                                : Wide<T>(1.01) * roundings * size * std::numeric_limits<T>::epsilon() / 2 +
                                      (roundings + 1) * std::numeric_limits<T>::denorm_min();
    if (!(std::abs(sum) + bound < static_cast<Wide<T>>(std::numeric_limits<T>::max()))) return true; // Inf, rightly
    const T found = found_[i * call_.ldc + j];
    if (std::abs(static_cast<Wide<T>>(found) - sum) <= bound) return true; // NaN is not
    constexpr int digits = std::numeric_limits<T>::max_digits10;
    why_ = fmt::format("C({}, {}), a sum of {} term{}, is {:.{}g}, not {:.{}g}, with new data", i, j, count,
                       count == 1 ? "" : "s", static_cast<double>(found), digits, static_cast<double>(sum), digits);
    return false;
  }

  const std::string& why() const { return why_; }

 private:
  const GemmOperands<T> x_;
  const GemmCall& call_;
  const T* const found_;
  std::string why_;
};

template <class T>
std::vector<Index> terms_in(const Line<T>& line) {
  std::vector<Index> terms;
  for (Index p = 0; p < line.length; ++p)
    if (line[p] != T(0)) terms.push_back(p);
  return terms;
}

template <class T>
std::string beyond_few_terms_as(const GemmCall& placed, const T* found, const FewTerms& few) {
  FewTermsCheck<T> check(placed, found);
  for (const Index i : few.rows) {
    const auto terms = terms_in(row_of_a(placed, static_cast<const T*>(placed.a), i));
    for (Index j = 0; j < placed.n; ++j)
      if (!check.is_right(i, j, terms)) return check.why();
  }
  for (const Index j : few.cols) {
    const auto terms = terms_in(column_of_b(placed, static_cast<const T*>(placed.b), j));
    for (Index i = 0; i < placed.m; ++i)
      if (!check.is_right(i, j, terms)) return check.why();
  }
  return {};
}

/// Calls f with a value of the call's type.
template <class F>
auto with_full_precision(DType type, F&& f) {
  return type == DType::F64 ? f(double{}) : f(float{});
}

} // namespace

FewTerms leave_few_terms(const GemmCall& placed, void* a, void* b, Index rows, Index cols, std::mt19937_64& random) {
  FewTerms few{some_of(placed.m, rows, random), some_of(placed.n, cols, random)};
  with_full_precision(placed.type, [&]<class T>(T) {
    for (const Index i : few.rows) leave_few(row_of_a(placed, static_cast<T*>(a), i), random);
    for (const Index j : few.cols) leave_few(column_of_b(placed, static_cast<T*>(b), j), random);
  });
  return few;
}

std::string beyond_few_terms(const GemmCall& placed, const void* found, const FewTerms& few) {
  return with_full_precision(
      placed.type, [&]<class T>(T) { return beyond_few_terms_as<T>(placed, static_cast<const T*>(found), few); });
}

} // namespace tessera::judge
