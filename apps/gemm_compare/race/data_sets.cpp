#include "data_sets.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/backend.hpp>
#include <tessera/half.hpp>
#include <tessera/status.hpp>

namespace tessera::compare_app {
namespace {

constexpr double exceptional_per_sum = 0.25;
constexpr double extreme_per_sum = 4;

/// The seed of one matrix; it is different for every matrix of every set.
std::uint64_t seed_of(std::uint64_t seed, std::size_t set, int matrix) {
  return seed * 0x9E3779B97F4A7C15u + set * 4 + static_cast<std::uint64_t>(matrix);
}

/// op(X) as it is stored: element (i, j) at data[i·row + j·col].
template <class T>
struct Elements {
  T* data;
  Index row, col;
  T& operator()(Index i, Index j) const { return data[i * row + j * col]; }
};

template <class T>
Elements<T> elements(void* data, const Stored& x, Op op) {
  return op == Op::None ? Elements<T>{static_cast<T*>(data), x.ld, 1} : Elements<T>{static_cast<T*>(data), 1, x.ld};
}

/// Turns independent operands into operands whose sums cancel, as data_sets.hpp describes. If k is odd, the element
/// without a partner is made small.
template <class T>
void cancel(const Problem& problem, void* a_data, void* b_data) {
  // δ leaves about half of the digits.
  const auto delta = static_cast<Scalar<T>>(std::ldexp(1.0, -std::numeric_limits<T>::digits / 2));
  const auto [m, n, k] = problem.shape;
  const Elements<T> a = elements<T>(a_data, problem.a, problem.op_a);
  const Elements<T> b = elements<T>(b_data, problem.b, problem.op_b);
  const Index half = k / 2;
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < half; ++p) a(i, p + half) = a(i, p);
  for (Index p = 0; p < half; ++p)
    for (Index j = 0; j < n; ++j) b(p + half, j) = static_cast<T>(delta * b(p + half, j) - b(p, j));
  if (k % 2 == 1)
    for (Index j = 0; j < n; ++j) b(k - 1, j) = static_cast<T>(delta * b(k - 1, j));
}

/// Multiplies rows of op(A) and columns of op(B) by powers of two, as data_sets.hpp describes.
template <class T>
void scale(const Problem& problem, int most, void* a_data, void* b_data) {
  const auto [m, n, k] = problem.shape;
  const Elements<T> a = elements<T>(a_data, problem.a, problem.op_a);
  const Elements<T> b = elements<T>(b_data, problem.b, problem.op_b);
  const auto factor = [most](Index i, Index count) {
    const double place = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 0;
    return static_cast<Scalar<T>>(std::exp2(std::nearbyint((2 * place - 1) * most)));
  };
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < k; ++p) a(i, p) = static_cast<T>(factor(i, m) * a(i, p));
  for (Index p = 0; p < k; ++p)
    for (Index j = 0; j < n; ++j) b(p, j) = static_cast<T>(factor(j, n) * b(p, j));
}

} // namespace

void fill_matrix(const Stored& x, const Filling& filling, Index k, std::uint64_t seed, void* data) {
  double low = filling.low;
  double high = filling.high;
  if (filling.distribution == Distribution::Special) {
    const double length = static_cast<double>(std::max<Index>(k, 1));
    low = std::min(exceptional_per_sum / length, 0.25);
    high = std::min(extreme_per_sum / length, 0.5);
  }
  Executor& host = executor(Backend::Reference); // it is always there, and its memory is the host's
  throw_if_failed(host.random(host.default_queue(),
                              {filling.distribution, x.type, x.rows, x.cols, data, x.ld, seed, low, high, 0}));
}

void fill_whole(const Filling& filling, Index count, std::uint64_t seed, std::int32_t* numbers) {
  if (count == 0) return;
  const Filling& whole = filling.distribution == Distribution::Integers ? filling : default_whole;
  Executor& host = executor(Backend::Reference);
  const Buffer drawn(host, static_cast<std::size_t>(count) * sizeof(double)); // they are drawn as f64
  throw_if_failed(host.random(host.default_queue(), {whole.distribution, DType::F64, 1, count, drawn.data(), count,
                                                     seed, whole.low, whole.high, 0}));
  const auto* from = static_cast<const double*>(drawn.data());
  std::transform(from, from + count, numbers, [](double x) { return static_cast<std::int32_t>(x); });
}

void fill_operands(const Problem& problem, const Options& options, std::size_t set, void* a, void* b, void* c) {
  const Index k = problem.shape.k;
  fill_matrix(problem.a, options.filling, k, seed_of(options.seed, set, 0), a);
  fill_matrix(problem.b, options.filling, k, seed_of(options.seed, set, 1), b);
  if (c != nullptr) fill_matrix(problem.c, options.filling, k, seed_of(options.seed, set, 2), c);
  visit(problem.type, [&]<class T>(std::type_identity<T>) {
    if (options.filling.cancelling) cancel<T>(problem, a, b);
    if (options.filling.scale > 0) scale<T>(problem, options.filling.scale, a, b);
  });
}

} // namespace tessera::compare_app
