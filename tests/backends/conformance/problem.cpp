#include "problem.hpp"

#include <cstring>
#include <sstream>

#include "oracle.hpp"

namespace tessera::conformance {
namespace {

/// A type in which products of two f32 are exact, and products of two f64 nearly so.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

/// Returns element e of operand number `which` (0 for A, 1 for B, 2 for C).
template <class T>
T element(Values values, int which, std::uint64_t e) {
  const auto seed = static_cast<std::uint64_t>(which) + 11;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  switch (values) {
    case Values::Integers:
      return random_element<T>(Distribution::Integers, seed, e, T{-8}, T{8});
    case Values::Subnormal:
      // A's and C's elements are subnormal, B's are near one.
      if (which == 1) return uniform<T>(seed, e);
      return std::ldexp(uniform<T>(seed, e), sizeof(T) == 4 ? -136 : -1060);
    case Values::NonFinite:
      // Infinities and NaNs are far enough apart that most rows and columns stay finite.
      if (e % 509 == 37) return which == 1 ? -infinity : infinity;
      if (e % 509 == 211) return std::numeric_limits<T>::quiet_NaN();
      return uniform<T>(seed, e);
    case Values::Uniform:
      break;
  }
  return uniform<T>(seed, e);
}

/// Returns the largest magnitude among the finite elements.
template <class T>
double largest_of(Guarded<T>& x) {
  double largest = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (std::isfinite(x.at(i, j))) largest = std::max(largest, std::abs(static_cast<double>(x.at(i, j))));
  return largest;
}

/// Says whether both are the same infinity, or both are NaN.
bool same_class(double got, double expected) { return std::isnan(expected) ? std::isnan(got) : got == expected; }

} // namespace

template <class T>
Problem<T>::Problem(const Case& x)
    : case_(x),
      a_(subject(), x.op_a == Op::None ? x.m : x.k, x.op_a == Op::None ? x.k : x.m, x.a),
      b_(subject(), x.op_b == Op::None ? x.k : x.n, x.op_b == Op::None ? x.n : x.k, x.b),
      before_(static_cast<std::size_t>(x.m * x.n)) {
  // With alpha = 0 A and B are not read, and stay NaN.
  if (x.alpha != 0) {
    fill(a_, [&](std::uint64_t e) { return element<T>(x.values, 0, e); });
    fill(b_, [&](std::uint64_t e) { return element<T>(x.values, 1, e); });
  }
  a_.upload();
  b_.upload();
  for (std::size_t e = 0; e < before_.size(); ++e)
    before_[e] = x.beta == 0 ? sentinel<T>() : element<T>(x.values, 2, e);
}

template <class T>
GemmCall Problem<T>::call(const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc, Math math) const {
  const Case& x = case_;
  return {{.type = dtype_of<T>,
           .math = math,
           .op_a = x.op_a,
           .op_b = x.op_b,
           .m = x.m,
           .n = x.n,
           .k = x.k,
           .alpha = x.alpha,
           .a = a,
           .lda = lda,
           .b = b,
           .ldb = ldb,
           .beta = x.beta,
           .c = c,
           .ldc = ldc,
           .threads = x.threads}};
}

/// Returns the result of the reference's kernel for the kernel's contract, on the host's images of A and B.
template <class T>
const std::vector<T>& Problem<T>::contract_bits(const GemmKernel& kernel) {
  const auto [name, math] = contract_of(kernel);
  std::vector<T>& bits = contract_bits_[math];
  if (!bits.empty() || before_.empty()) return bits;
  bits = before_;
  const GemmCall promised =
      call(a_.host(), a_.ld(), b_.host(), b_.ld(), bits.data(), std::max<Index>(case_.n, 1), math);
  Executor& executor = reference();
  throw_if_failed(executor.gemm(executor.default_queue(), promised, name));
  return bits;
}

/// Returns the results of an oracle. The oracle does not use the reference, so that it checks the reference's kernels
/// too.
template <class T>
const std::vector<ExactElement>& Problem<T>::exact() {
  if (!exact_.empty() || before_.empty()) return exact_;
  const Case& x = case_;
  using W = Wide<T>;
  constexpr double u = sizeof(T) == 4 ? 0x1p-53 : 0x1p-64;
  exact_.resize(before_.size());
  const double largest = x.alpha == 0 ? 0 : std::abs(x.alpha) * largest_of(a_) * largest_of(b_);
  const Index k = x.alpha == 0 ? 0 : x.k;
  // f64 has to be wider where what a product's rounding loses may be no f64.
  const bool wide = sizeof(T) > 4 && (x.values == Values::Subnormal || x.values == Values::NonFinite);
  std::vector<double> plain_b(static_cast<std::size_t>(k * x.n)); // op(B), row by row
  double* copied = plain_b.data();
  for (Index p = 0; p < k; ++p)
    for (Index j = 0; j < x.n; ++j) *copied++ = x.op_b == Op::None ? b_.at(p, j) : b_.at(j, p);
  const auto n = static_cast<std::size_t>(x.n);
  std::vector<double> near(n), lost(n), magnitude_f64(n);
  std::vector<W> sum(n), magnitude(n);
  for (Index i = 0; i < x.m; ++i) {
    for (std::vector<double>* zeroed : {&near, &lost, &magnitude_f64}) zeroed->assign(n, 0.0);
    sum.assign(n, W{0});
    magnitude.assign(n, W{0});
    for (Index p = 0; p < k; ++p) {
      const double a = x.op_a == Op::None ? a_.at(i, p) : a_.at(p, i);
      const double* b = plain_b.data() + p * x.n;
      if (sizeof(T) == 4) {
        add_products(a, b, x.n, near.data(), magnitude_f64.data());
      } else if (!wide) {
        add_products(a, b, x.n, near.data(), lost.data(), magnitude_f64.data());
      } else {
        for (std::size_t j = 0; j < n; ++j) {
          const W product = static_cast<W>(a) * b[j];
          sum[j] += product;
          magnitude[j] += product < 0 ? -product : product;
        }
      }
    }
    if (!wide)
      for (std::size_t j = 0; j < n; ++j) {
        sum[j] = static_cast<W>(near[j]) + static_cast<W>(lost[j]);
        magnitude[j] = static_cast<W>(magnitude_f64[j]);
      }
    for (Index j = 0; j < x.n; ++j) {
      const auto e = static_cast<std::size_t>(i * x.n + j);
      const auto column = static_cast<std::size_t>(j);
      const W added = x.beta == 0 ? W{0} : static_cast<W>(x.beta) * static_cast<W>(before_[e]);
      ExactElement& element = exact_[e];
      element.value = static_cast<double>(static_cast<W>(x.alpha) * sum[column] + added);
      element.magnitude = static_cast<double>(static_cast<W>(std::abs(x.alpha)) * magnitude[column] + std::abs(added));
      element.largest = largest;
      element.error = gamma(static_cast<double>(x.k) + 3, u) * element.magnitude + 0x1p-53 * std::abs(element.value);
    }
  }
  return exact_;
}

template <class T>
std::string Problem<T>::compare(const GemmKernel& kernel, const GemmCall& made, Guarded<T>& c) {
  std::size_t wrong = 0;
  std::ostringstream first;
  first.precision(17);
  const auto report = [&](Index i, Index j, double got, double expected, const char* what, double limit) {
    if (wrong++ == 0) first << "element (" << i << ", " << j << ") is " << got << ", " << what << expected;
    if (wrong == 1 && limit > 0) first << " ± " << limit;
  };
  const auto* const contract =
      has_contract(kernel.summation) && !is_own_contract(kernel) ? &contract_bits(kernel) : nullptr;
  const bool bits_decide = has_contract(kernel.summation) && options().backend != Backend::Reference;
  const std::size_t row_bytes = static_cast<std::size_t>(case_.n) * sizeof(T);
  for (Index i = 0; i < (case_.n > 0 ? case_.m : 0); ++i) {
    if (bits_decide && contract != nullptr && std::memcmp(&c.at(i, 0), contract->data() + i * case_.n, row_bytes) == 0)
      continue;
    for (Index j = 0; j < case_.n; ++j) {
      const auto e = static_cast<std::size_t>(i * case_.n + j);
      const T got = c.at(i, j);
      if (contract != nullptr && !same(got, (*contract)[e]))
        report(i, j, static_cast<double>(got), static_cast<double>((*contract)[e]), "the contract's bits are ", 0);
      if (bits_decide) continue;
      const double expected = exact()[e].value;
      const double limit = case_.values == Values::Integers ? 0 : bound(kernel, made, exact()[e]);
      const bool right = std::isfinite(expected) ? std::abs(static_cast<double>(got) - expected) <= limit
                                                 : same_class(static_cast<double>(got), expected);
      if (!right) report(i, j, static_cast<double>(got), expected, "must be ", limit);
    }
  }
  if (wrong == 0) return {};
  return std::to_string(wrong) + " of " + std::to_string(before_.size()) + " elements are wrong: " + first.str();
}

template <class T>
bool Problem<T>::concerns(const GemmKernel& kernel) const {
  const bool full_range =
      kernel.math == Math::Strict || kernel.math == Math::Compensated || kernel.math == Math::Strassen;
  const bool only_bits = has_contract(kernel.summation) && options().backend != Backend::Reference;
  return case_.values != Values::Subnormal || full_range || only_bits;
}

template <class T>
std::string Problem<T>::check(const GemmKernel& kernel, bool by_name, std::optional<std::string>& rejection) {
  Guarded<T> c(subject(), case_.m, case_.n, case_.c);
  fill(c, [&](std::uint64_t e) { return before_[e]; });
  c.upload();
  const GemmCall made = call(a_.data(), a_.ld(), b_.data(), b_.ld(), c.data(), c.ld(), kernel.math);
  Queue& queue = subject().default_queue();
  Status status = subject().gemm(queue, made, by_name ? kernel.name : "");
  if (status.code == StatusCode::Rejected) {
    rejection = status.why;
    return c.unchanged() ? "" : "the kernel rejects, but C has changed";
  }
  if (status.ok()) status = queue.synchronize();
  if (!status.ok()) return "failed: " + status.why;
  c.download();
  if (!c.surroundings_intact()) return "it wrote beside C: a guard band or a gap between rows has changed";
  if (!a_.unchanged()) return "A has changed";
  if (!b_.unchanged()) return "B has changed";
  return compare(kernel, made, c);
}

template class Problem<float>;
template class Problem<double>;

} // namespace tessera::conformance
