/// Cholesky's factorisation: panels within a segment look left, and a whole segment is subtracted from what is right of
/// it by one product.

#include <tessera/linear_algebra/cholesky.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "enter.hpp"
#include "model.hpp"
#include "on_host.hpp"
#include "panel.hpp"
#include "planes.hpp"
#include "symmetric.hpp"

namespace tessera {

NotPositiveDefinite::NotPositiveDefinite(Index minor)
    : InvalidArgument("Cholesky: the matrix is not positive definite: its leading minor of order " +
                      std::to_string(minor) + " is not; Lu solves such systems"),
      minor_(minor) {}
NotPositiveDefinite::~NotPositiveDefinite() = default;

namespace linear_algebra {
namespace {

/// Calls panel(first, j, width) for each panel of a segment, until one returns fewer columns than it has; then that is
/// where the factorisation ends. Calls rest(first, end) after each segment.
template <class Panel, class Rest>
Index for_panels(Index n, Index segment, const Panel& panel, const Rest& rest) {
  for (Index first = 0; first < n; first += segment) {
    const Index end = std::min(n, first + segment);
    for (Index j = first; j < end; j += panel_width) {
      const Index width = std::min(panel_width, end - j), done = panel(first, j, width);
      if (done < width) return j + done;
    }
    if (end < n) rest(first, end);
  }
  return n;
}

/// Memory of a factorisation: sums for n rows of a panel and, of complex numbers, a block on the diagonal, conjugates
/// of what is left of a panel, and a strip of the rest.
template <class T>
struct CholeskyWorkspace {
  CholeskyWorkspace(Index n, bool is_lower)
      : sums(zeros<T>(n * std::min(n, panel_width))),
        l_ld(apart(std::min(n, segment_length<T>))),
        memory_(has_conjugates(is_lower) ? conjugates_of(n) + strip_of(n) : 0),
        conjugates(memory_.data()),
        strip(has_conjugates(is_lower) ? conjugates + conjugates_of(n) : nullptr),
        l_memory(has_conjugates(is_lower) ? n * l_ld : 0) {}
  static constexpr Index strip_rows = 128; ///< no bit depends on it
  std::vector<T> sums;
  Index l_ld;

 private:
  Scratch<T> memory_; ///< two blocks of like sizes, which the C library keeps where it would return more to the system

 public:
  T *conjugates, *strip;
  Scratch<T> l_memory;
  T block[panel_width * panel_width];

  /// A segment's columns of L by rows, where the memory holds their transpose and the numbers are complex: a product
  /// would copy them anew each time.
  Block<T> l() const { return {l_memory.data(), l_ld}; }

  /// Returns the conjugates of a block, rows×cols, which are valid until the next call.
  Factor<T> conjugated(Index rows, Index cols, Block<const T> from) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) conjugates[i * cols + j] = conjugated_if(true, *from.at(i, j));
    return {{conjugates, cols}};
  }

 private:
  static Index conjugates_of(Index n) {
    return std::min(n, segment_length<T>) * (n > segment_length<T> ? n : std::min(n, panel_width));
  }
  static Index strip_of(Index n) { return n > segment_length<T> ? strip_rows * n : 0; }
  static bool has_conjugates(bool is_lower) { return is_complex<T> && !is_lower; }
};

/// Factors the lower triangle.
template <class T>
Index factor_lower(const Products<T>& products, CholeskyWorkspace<T>& space, Index n, Block<T> a) {
  const Block<T> s{space.sums.data(), std::min(n, panel_width)};
  const auto panel = [&](Index first, Index j, Index width) {
    const Factor<T> left{a.from(j, first)};
    products.sums(n - j, width, j - first, left, left.transposed().conjugated(), s);
    const Index done = factor_positive(width, a.at(j, j), a.ld, s.data, s.ld);
    if (done < width) return done;
    TriangleBlock<T> triangle{.size = width, .t = a.at(j, j), .ld = a.ld};
    if constexpr (is_complex<T>) {
      for (Index i = 0; i < width; ++i)
        for (Index k = 0; k <= i; ++k) space.block[i * panel_width + k] = std::conj(*a.at(j + i, j + k));
      triangle = {.size = width, .t = space.block, .ld = panel_width};
    }
    products.in_parts(n - j - width, 64, [&](Index begin, Index stop) {
      solve_rows(triangle, stop - begin, a.at(j + width + begin, j), a.ld, s.at(width + begin, 0), s.ld);
    });
    return done;
  };
  return for_panels(n, segment_length<T>, panel, [&](Index first, Index end) {
    const Factor<T> left{a.from(end, first)};
    const TriangleOf<T> rest{Triangle::Lower, false, n - end, a.from(end, end)};
    add_term<T>(products, rest, end - first, {T(-1), left, left.transposed().conjugated()});
  });
}

/// Factors the upper triangle, which becomes Lᵀ: the panels are rows. Of complex numbers the sums are by rows of L,
/// whose order of factors counts.
template <class T>
Index factor_upper(const Products<T>& products, CholeskyWorkspace<T>& space, Index n, Block<T> a) {
  const Block<T> s{space.sums.data(), is_complex<T> ? std::min(n, panel_width) : n};
  const auto panel = [&](Index first, Index j, Index width) {
    const Factor<T> above{a.from(first, j)};
    if constexpr (is_complex<T>)
      products.sums(n - j, width, j - first, {space.l().from(j, 0)},
                    space.conjugated(j - first, width, a.from(first, j)), s);
    else
      products.sums(width, n - j, j - first, above.transposed(), above, s);
    T* const block = space.block;
    for (Index i = 0; i < width; ++i)
      for (Index k = 0; k <= i; ++k) block[i * panel_width + k] = *a.at(j + k, j + i);
    const Index done = factor_positive(width, block, panel_width, s.data, s.ld);
    for (Index i = 0; i < width; ++i)
      for (Index k = 0; k <= std::min(i, done - 1); ++k) *a.at(j + k, j + i) = block[i * panel_width + k];
    if (done < width) return done;
    if constexpr (is_complex<T>)
      for (Index i = 0; i < width; ++i)
        for (Index k = 0; k <= i; ++k) block[i * panel_width + k] = std::conj(block[i * panel_width + k]);
    const TriangleBlock<T> triangle{.size = width, .t = block, .ld = panel_width};
    products.in_parts(n - j - width, 64, [&](Index begin, Index stop) {
      T* const x = a.at(j, j + width + begin);
      if constexpr (is_complex<T>) {
        solve_lines(First::Line, triangle, stop - begin, x, {1, a.ld}, s.at(width + begin, 0), {s.ld, 1});
        transpose<T>(width, stop - begin, {x, a.ld}, space.l().from(j + width + begin, j - first));
      } else
        solve_columns(triangle, stop - begin, x, a.ld, s.at(0, width + begin), s.ld);
    });
    return done;
  };
  return for_panels(n, segment_length<T>, panel, [&](Index first, Index end) {
    const Factor<T> above{a.from(first, end)};
    if constexpr (is_complex<T>) {
      const Factor<T> conjugates = space.conjugated(end - first, n - end, a.from(first, end));
      return products.subtract_transposed(n - end, n - end, end - first, {space.l().from(end, 0)}, conjugates,
                                          a.from(end, end), true, {space.strip_rows, space.strip});
    }
    const TriangleOf<T> rest{Triangle::Upper, false, n - end, a.from(end, end)};
    add_term<T>(products, rest, end - first, {T(-1), above.transposed(), above});
  });
}

template <class T>
Index factor_triangle(Triangle triangle, Index n, void* data, Index lda, const SolveOptions& options,
                      detail::Shortage shortage) {
  const Block<T> a{static_cast<T*>(data), lda};
  const bool is_lower = triangle == Triangle::Lower;
  const auto by_formula = [&] {
    const Grid<T> grid{a.data, a.ld};
    return model_cholesky(n, is_lower ? grid : grid.transposed());
  };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const Products<T> products(options, shortage);
    CholeskyWorkspace<T> space(n, is_lower);
    Index done = 0;
    products.run_steps(product_work(n, n, n) / 6, [&] {
      done = is_lower ? factor_lower(products, space, n, a) : factor_upper(products, space, n, a);
    });
    return done;
  };
  return with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace

Index factor_cholesky_on_host(detail::NumberType type, Triangle triangle, Index n, void* a, Index lda,
                              const SolveOptions& options, detail::Shortage shortage) {
  return with_number(type, [&]<class T>(T) { return factor_triangle<T>(triangle, n, a, lda, options, shortage); });
}

} // namespace linear_algebra
} // namespace tessera
