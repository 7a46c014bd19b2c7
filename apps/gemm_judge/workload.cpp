#include "workload.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include <tessera/checking/check.hpp>
#include <tessera/status.hpp>

#include "elements.hpp"
#include "exact_product.hpp"

namespace tessera::judge {
namespace {

constexpr std::size_t wrong_rows_examined = 64;

bool is_small_integer(double x) { return std::trunc(x) == x && std::abs(x) <= 4; }

/// Returns the whole numbers of which Σ|alpha·a·b| + |beta·c| fits the significand of C's type, so that no operation
/// rounds, in whatever order a kernel adds.
WholeNumbers exact_whole_numbers(const GemmCall& call) {
  if (is_whole(call.type)) // all of int8_t, because kernels that add in 16 bits saturate at its ends
    return {-128, 127, call.k <= largest_int8_k && call.alpha == 1 && (call.beta == 0 || call.beta == 1) ? call.k : 0};
  if (!is_small_integer(call.alpha) || !is_small_integer(call.beta)) return {};
  const double largest_sum = std::ldexp(1.0, element_type(call.type).digits);
  // Where C has few digits, rows of op(A) are mostly zeros.
  constexpr Index enough = 128;
  for (const int largest : {8, 4, 2, 1}) {
    const double term = std::abs(call.alpha) * largest * largest * growth_of_sums(call.math, call.m, call.n, call.k);
    const double left = largest_sum - std::abs(call.beta) * largest;
    const double most = term > 0 ? std::floor(left / term) : left >= 0 ? static_cast<double>(call.k) : 0.0;
    const Index terms = static_cast<Index>(std::clamp(most, 0.0, static_cast<double>(call.k)));
    const bool may_be_sparse = is_16_bit(call.type) && call.math != Math::Strassen;
    if (terms == call.k || (may_be_sparse && terms >= std::min(call.k, largest > 1 ? enough : 1)))
      return {-largest, largest, terms};
  }
  return {};
}

/// The bits of a number of so many bytes.
template <std::size_t bytes>
using Bits = std::conditional_t<
    bytes == 8, std::uint64_t,
    std::conditional_t<bytes == 4, std::uint32_t, std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>>;

/// Returns a signalling NaN of 16 bits with so many digits, the leading one among them.
constexpr int poison_of_half(int digits) {
  const int fraction = digits - 1, quiet = 1 << (fraction - 1);
  return (0x7fff >> fraction << fraction) | (0x1a5 & (quiet - 1));
}
static_assert(poison_of_half(11) == 0x7da5 && poison_of_half(8) == 0x7fa5); // of f16 and bf16

/// The poison in padding and in results that are not yet written. It is a signalling NaN, which no arithmetic returns,
/// not even an addition to it. As an int32_t it is above every sum of an int8 product.
template <class T>
constexpr auto poison = static_cast<Bits<sizeof(T)>>(sizeof(T) == 8   ? 0x7ff5a5a57ff5dead
                                                     : sizeof(T) == 4 ? 0x7fa5dead
                                                     : sizeof(T) == 2 ? poison_of_half(std::numeric_limits<T>::digits)
                                                                      : 0x7f);

template <class T>
void fill_poison(std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) std::memcpy(to + i, &poison<T>, sizeof(T));
}

template <class T>
bool is_poison(const T& value) {
  return std::bit_cast<Bits<sizeof(T)>>(value) == poison<T>;
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

} // namespace

Workload::Workload(const GemmCall& call, const Problem& problem, std::byte* memory)
    : call_(call),
      problem_(problem),
      memory_(memory),
      whole_numbers_(exact_whole_numbers(call)),
      random_(unpredictable()) {}

void Workload::place_integers() {
  random_ = unpredictable();
  with_types(call_.type,
             [&]<class T, class R>(std::type_identity<T>, std::type_identity<R>) { place_integers_as<T, R>(); });
}
void Workload::place_subnormals() {
  random_ = unpredictable();
  if (call_.type == DType::F64) return place_subnormals_as<double>();
  place_subnormals_as<float>();
}
void Workload::place_permuted() {
  random_ = unpredictable();
  visit(call_.type, [&]<class T>(std::type_identity<T>) { place_permuted_as<T>(); });
}
void Workload::place_fresh(bool timed) {
  random_ = unpredictable();
  spread_ = random_spread(call_, random_);
  visit(call_.type, [&]<class T>(std::type_identity<T>) { place_fresh_as<T>(); });
  few_terms_ = {};
  if (!is_full_precision(call_)) return;
  // Few enough in timed calls that it gains nothing to leave their zeros out.
  const auto some = [&](Index count) {
    return timed ? std::min(Index{4}, count / 32) : std::min(Index{32}, (count + 1) / 2);
  };
  few_terms_ = leave_few_terms(placed(), memory_ + problem_.a.offset, memory_ + problem_.b.offset, some(call_.m),
                               some(call_.n), random_);
}
Mistakes Workload::check_integers() {
  random_ = unpredictable();
  return with_types(call_.type, [&]<class T, class R>(std::type_identity<T>, std::type_identity<R>) {
    return check_integers_as<T, R>();
  });
}

template <class T, class R>
void Workload::fill_all() {
  for (const Region& region : {problem_.a, problem_.b}) fill_poison<T>(memory_ + region.offset, region.bytes);
  for (const Region& region : {problem_.c, problem_.result}) fill_poison<R>(memory_ + region.offset, region.bytes);
}

auto Workload::whole_numbers_times(double unit) {
  return [this, unit, bits = std::uint64_t{0}, left = 0](Index, Index, auto& x) mutable {
    if (left == 0) {
      bits = random_();
      left = 8;
    }
    const int numbers = whole_numbers_.high - whole_numbers_.low + 1;
    const int number = (static_cast<int>(bits & 0xff) * numbers >> 8) + whole_numbers_.low;
    x = static_cast<std::remove_reference_t<decltype(x)>>(number * unit);
    bits >>= 8;
    --left;
  };
}

template <class T, class R>
void Workload::place_integers_as() {
  auto draw = whole_numbers_times(1);
  fill_all<T, R>();
  const bool ta = call_.op_a == Op::Transpose;
  const bool tb = call_.op_b == Op::Transpose;
  T* a = at<T>(problem_.a);
  const Index rows = ta ? call_.k : call_.m, cols = ta ? call_.m : call_.k;
  if (whole_numbers_.terms == call_.k) {
    for_each(a, rows, cols, problem_.lda, draw);
  } else {
    for_each(a, rows, cols, problem_.lda, [](Index, Index, T& x) { x = static_cast<T>(0); });
    for (Index i = 0; i < call_.m; ++i)
      for (Index term = 0; term < whole_numbers_.terms; ++term) {
        const auto p = static_cast<Index>(random_() % static_cast<std::uint64_t>(call_.k));
        draw(i, p, a[ta ? p * problem_.lda + i : i * problem_.lda + p]);
      }
  }
  for_each(at<T>(problem_.b), tb ? call_.n : call_.k, tb ? call_.k : call_.n, problem_.ldb, draw);
  if (call_.beta != 0) for_each(at<R>(problem_.c), call_.m, call_.n, problem_.ldc, draw);
}

template <class T>
void Workload::place_subnormals_as() {
  constexpr Index few_rows = 2, few_terms = 8;
  // Products are multiples of the smallest subnormal number, and the largest sum is far from the smallest normal one.
  constexpr int exponent = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const double unit_a = std::ldexp(1.0, exponent / 2), unit_b = std::ldexp(1.0, exponent - exponent / 2);
  const bool ta = call_.op_a == Op::Transpose, tb = call_.op_b == Op::Transpose;
  T* a = at<T>(problem_.a);
  fill_all<T, T>();
  for_each(a, ta ? call_.k : call_.m, ta ? call_.m : call_.k, problem_.lda, [](Index, Index, T& x) { x = 0; });
  auto draw = whole_numbers_times(unit_a);
  const auto any = [&](Index count) { return static_cast<Index>(random_() % static_cast<std::uint64_t>(count)); };
  for (Index r = 0; r < few_rows; ++r) {
    const Index i = any(call_.m);
    for (Index term = 0; term < few_terms; ++term) {
      const Index p = any(call_.k);
      draw(i, p, a[ta ? p * problem_.lda + i : i * problem_.lda + p]);
    }
  }
  for_each(at<T>(problem_.b), tb ? call_.n : call_.k, tb ? call_.k : call_.n, problem_.ldb,
           whole_numbers_times(unit_b));
  if (call_.beta != 0)
    for_each(at<T>(problem_.c), call_.m, call_.n, problem_.ldc, whole_numbers_times(unit_a * unit_b));
}

template <class T>
void Workload::place_fresh_as() {
  fill_all<T, T>();
  const auto draw = [&](const Region& region, Index rows, Index cols, Index ld, double spread) {
    for_each(at<T>(region), rows, cols, ld, [&](Index, Index, T& x) { x = drawn_element<T>(spread, random_); });
  };
  const bool ta = call_.op_a == Op::Transpose, tb = call_.op_b == Op::Transpose;
  draw(problem_.a, ta ? call_.k : call_.m, ta ? call_.m : call_.k, problem_.lda, spread_.a);
  draw(problem_.b, tb ? call_.n : call_.k, tb ? call_.k : call_.n, problem_.ldb, spread_.b);
  if (call_.beta != 0) draw(problem_.c, call_.m, call_.n, problem_.ldc, spread_.c);
}

template <class T>
void Workload::place_permuted_as() {
  rows_ = shuffled(call_.m, random_);
  cols_ = shuffled(call_.n, random_);
  fill_all<T, T>();
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
  restored_.resize(static_cast<std::size_t>(call_.m * call_.ldc) * size_of(result_of(call_.type)));
  visit(call_.type, [&]<class T>(std::type_identity<T>) {
    T* to = reinterpret_cast<T*>(restored_.data());
    for_each(at<const T>(problem_.result), call_.m, call_.n, problem_.ldc,
             [&](Index i, Index j, T c) { to[at_index(rows_, i) * call_.ldc + at_index(cols_, j)] = c; });
  });
  return restored_;
}

GemmCall Workload::placed() const {
  GemmCall placed = call_;
  placed.a = memory_ + problem_.a.offset;
  placed.b = memory_ + problem_.b.offset;
  placed.c = memory_ + problem_.c.offset;
  placed.lda = problem_.lda;
  placed.ldb = problem_.ldb;
  placed.ldc = problem_.ldc;
  return placed;
}

std::string Workload::check_fresh() {
  random_ = unpredictable(); // the kernel has seen numbers of the generator that drew the operands
  const GemmCall call = placed();
  if (std::string why = beyond_bounds(call); !why.empty()) return why;
  if (std::string why = untypical_errors(call, memory_ + problem_.result.offset, spread_, random_); !why.empty())
    return why;
  return beyond_few_terms(call, memory_ + problem_.result.offset, few_terms_);
}

std::string Workload::beyond_bounds(const GemmCall& call) try {
  const auto type = static_cast<CheckedType>(call.type);
  const bool ta = call.op_a == Op::Transpose, tb = call.op_b == Op::Transpose;
  const CheckedMatrix c{type, memory_ + problem_.result.offset, call.m, call.n, call.ldc};
  CheckedProduct product{{type, call.a, ta ? call.k : call.m, ta ? call.m : call.k, call.lda, call.op_a},
                         {type, call.b, tb ? call.n : call.k, tb ? call.k : call.n, call.ldb, call.op_b}};
  if (call.beta != 0) product.c_before = CheckedMatrix{type, call.c, call.m, call.n, call.ldc};
  const Certificate certificate =
      check(product, c, {.math = call.math, .alpha = call.alpha, .beta = call.beta, .seed = random_()});
  if (certificate.verdict != Verdict::Wrong) return {};
  if (!certificate.worst.empty() && !(certificate.worst.front().element.over_bound <= 1)) {
    const WorstElement& worst = certificate.worst.front().element;
    return fmt::format("the error of C({}, {}) is {:.3g} times its bound, with new data", worst.row, worst.col,
                       worst.over_bound);
  }
  return fmt::format("row {} of C is {:.3g} times its bound by Freivalds, with new data",
                     certificate.rows_beyond.empty() ? Index{-1} : certificate.rows_beyond.front().row,
                     certificate.row_over_bound);
} catch (const KernelRejected&) {
  return {}; // --kernel-math names a mode that this type does not have; the caller's check knows what that means
}

template <class T, class R>
Mistakes Workload::check_integers_as() {
  const ExactProduct<T, R> product(placed(), at<const R>(problem_.result));

  // Every sum in wrong_rows() is an exact double, whatever the signs: n·k·(largest a·b)·|entry| ≤ 2⁵³.
  const double largest = std::max<double>(-whole_numbers_.low, whole_numbers_.high);
  const double room = std::ldexp(1.0, 53) / (largest * largest * static_cast<double>(call_.n) *
                                             static_cast<double>(call_.k) * std::max(1.0, std::abs(call_.alpha)));
  const auto most = static_cast<int>(std::clamp(room, 1.0, 4096.0));
  std::uniform_int_distribution<int> entries(-most, most);
  std::vector<double> v(static_cast<std::size_t>(call_.n));
  for (double& entry : v) entry = entries(random_);
  const std::vector<Index> wrong = product.wrong_rows(v);
  return wrong.empty() ? Mistakes{} : product.mistakes_in(spread(wrong, wrong_rows_examined));
}

Index Workload::unwritten() const {
  if (call_.beta != 0) return 0;
  return with_types(call_.type, [&]<class T, class R>(std::type_identity<T>, std::type_identity<R>) {
    Index count = 0;
    for_each(at<const R>(problem_.result), call_.m, call_.n, problem_.ldc,
             [&](Index, Index, const R& c) { count += is_poison(c); });
    return count;
  });
}

Index Workload::not_a_number() const {
  return with_types(call_.type, [&]<class T, class R>(std::type_identity<T>, std::type_identity<R>) {
    Index count = 0;
    for_each(at<const R>(problem_.result), call_.m, call_.n, problem_.ldc,
             [&](Index, Index, const R& c) { count += std::isnan(static_cast<double>(c)) && !is_poison(c); });
    return count;
  });
}

bool Workload::padding_changed() const {
  return with_types(call_.type, [&]<class T, class R>(std::type_identity<T>, std::type_identity<R>) {
    bool changed = false;
    const Index rows = static_cast<Index>(problem_.result.bytes / sizeof(R)) / problem_.ldc;
    for (Index i = 0; i < rows && problem_.ldc > call_.n; ++i)
      for (Index j = call_.n; j < problem_.ldc; ++j)
        changed |= !is_poison(at<const R>(problem_.result)[i * problem_.ldc + j]);
    return changed;
  });
}

std::uint64_t Workload::fingerprint() const {
  const auto* bytes = reinterpret_cast<const char*>(memory_ + problem_.result.offset);
  return std::hash<std::string_view>{}({bytes, problem_.result.bytes});
}

} // namespace tessera::judge
