#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <tessera/detail/emulated_segments.hpp>
#include <tessera/detail/matrix_unit_segments.hpp>

#include "support/scattered.hpp"

namespace tessera::batch_invariance {
namespace {

bool one_of(Random& random, int count) { return random() % static_cast<std::uint64_t>(count) == 0; }

/// Draws a size so that small ones are as likely as large ones.
Index size_up_to(Random& random, Index largest) {
  const double power = std::uniform_real_distribution<double>(0, std::log2(static_cast<double>(largest) + 1))(random);
  return std::clamp<Index>(static_cast<Index>(std::exp2(power)), 1, largest);
}

/// Moves k to where the number of segments or their length changes in a mode, or one beside it.
Index near_a_cut(Random& random, Index k) {
  const Index length = one_of(random, 2) ? detail::matrix_unit_segment_length(k)
                                         : detail::emulated_segment_chunks(k) * detail::emulated_chunk;
  const Index strict = detail::emulated_strict_k(one_of(random, 2) ? Math::ScaledFp16 : Math::EmulatedFp16x3);
  const Index cut = one_of(random, 3) ? (k > 1024 ? 2048 : strict) : length;
  return std::max<Index>(1, cut + static_cast<Index>(random() % 3) - 1);
}

Placement place(Random& random) {
  constexpr Index paddings[] = {0, 0, 1, 3, 8, 16, 61};
  constexpr Index guards[] = {0, 16, 64};
  return {paddings[random() % std::size(paddings)], guards[random() % std::size(guards)], one_of(random, 3)};
}

Layout layout(Random& random) {
  const auto op = [&] { return one_of(random, 2) ? Op::Transpose : Op::None; };
  return {op(), op(), place(random), place(random), place(random)};
}

} // namespace

Comparison::Comparison(std::uint64_t of, const Limits& limits) : seed(of) {
  Random random(seed);
  m = size_up_to(random, limits.largest);
  n = size_up_to(random, limits.largest);
  // Most lengths of logarithmic size have one segment.
  k = one_of(random, 2) ? 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(limits.largest))
                        : size_up_to(random, limits.largest);
  if (one_of(random, 3)) k = std::min(near_a_cut(random, k), limits.largest);
  const auto real = [](Index x) { return static_cast<double>(x); };
  const auto too_large = [&] {
    return real(m) * real(n) * real(k) > limits.work || real(m) * real(k) + real(k + m) * real(n) > limits.elements;
  };
  while (too_large()) (m > 2 && m >= n / 4 ? m : n > 2 ? n : k) /= 2;
  rows = one_of(random, 3) ? 1 + static_cast<Index>(random() % static_cast<std::uint64_t>(std::min<Index>(m, 9))) : 1;
  first = static_cast<Index>(random() % static_cast<std::uint64_t>(m - rows + 1));
  constexpr double alphas[] = {1, 1, 1.5, -0.75}, betas[] = {0, 0, 1, -0.5};
  alpha = alphas[random() % 4];
  beta = betas[random() % 4];
  special = one_of(random, 4);
  together = layout(random);
  alone = layout(random);
  in_batch = one_of(random, 4) && m >= 2 * rows;
  if (in_batch) { // of whole products, the one among them that is compared
    m -= m % rows;
    first -= first % rows;
    first = std::min(first, m - rows);
    together.op_a = Op::None;
  }
}

float Comparison::a(Index i, Index p) const {
  const float usual = test::scattered(seed * 3, static_cast<std::uint64_t>(i * k + p));
  if (!special || (i >= first && i < first + rows)) return usual;
  switch (static_cast<std::uint64_t>(i * 131 + p * 7 + static_cast<Index>(seed % 97)) % 29) {
    case 0:
      return std::numeric_limits<float>::infinity();
    case 1:
      return std::numeric_limits<float>::quiet_NaN();
    case 2:
      return 60000;
    default:
      return usual;
  }
}
float Comparison::b(Index p, Index j) const {
  return test::scattered(seed * 3 + 1, static_cast<std::uint64_t>(p * n + j));
}
float Comparison::c(Index i, Index j) const {
  return test::scattered(seed * 3 + 2, static_cast<std::uint64_t>(i * n + j));
}

} // namespace tessera::batch_invariance
