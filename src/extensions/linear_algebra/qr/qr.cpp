/// The QR factorisation: panels of reflections, each of which changes everything right of it by three products.

#include <tessera/linear_algebra/qr.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "extensions/linear_algebra/enter.hpp"
#include "extensions/linear_algebra/on_host.hpp"
#include "extensions/linear_algebra/planes.hpp"
#include "extensions/linear_algebra/products.hpp"
#include "qr_model.hpp"
#include "qr_panel.hpp"

namespace tessera {

RankDeficient::RankDeficient(Index column)
    : InvalidArgument("least squares: the columns of the matrix depend on each other: element " +
                      std::to_string(column) +
                      " of R's diagonal, counted from 0, is 0, so that there are many solutions"),
      column_(column) {}
RankDeficient::~RankDeficient() = default;

namespace linear_algebra {
namespace {

/// A matrix whose memory holds it by rows, or by columns.
template <class T>
struct Placed {
  Block<T> block;
  bool by_rows = true;

  T* at(Index i, Index j) const { return by_rows ? block.at(i, j) : block.at(j, i); }
  Place place() const { return by_rows ? Place{1, block.ld} : Place{block.ld, 1}; } ///< of columns
  Placed from(Index i, Index j) const { return {{at(i, j), block.ld}, by_rows}; }
  operator Placed<const T>() const requires(!std::is_const_v<T>) { return {block, by_rows}; }
};

/// A strip of columns is read, and then read and written, by a block reflection: it stays in a cache meanwhile. No bit
/// depends on its size.
constexpr Index strip_bytes = Index{1} << 21, least_strip = 64;

/// A panel in memory of its own, by columns that lie no power of two apart, and what its block reflection needs.
template <class T>
class ReflectionSpace {
 public:
  /// For panels of up to m rows, of k reflections, that are applied to up to `count` columns.
  ReflectionSpace(Index m, Index k, Index count)
      : ld_(apart(m + reflection_padding<T>)),
        width_(std::min(k, reflection_panel)),
        columns_(zeros<T>(ld_ * width_)),
        planes_(zeros<Part<T>>(is_complex<T> ? 2 * std::ssize(columns_) : 0)),
        by_rows_(zeros<Part<T>>(m * reflection_group * Number<T>::parts)),
        sums_(zeros<T>(width_ * count)),
        products_(zeros<T>(std::ssize(sums_))),
        strip_(zeros<T>(is_complex<T> ? strip_rows * m : 0)) {}

  /// Copies the panel that A begins with and factors it. R and V go back to A.
  void factor(Index rows, Index width, Placed<T> a, T* tau) {
    if constexpr (is_complex<T>) {
      Part<T>* const planes = planes_.data();
      take_apart(rows, width, a.block.data, a.place(), planes, ld_);
      for (Index p = 0; p < 2 * width; ++p)
        std::fill(planes + p * ld_ + rows, planes + p * ld_ + rows + reflection_padding<T>, Part<T>(0));
      factor_reflections<T>({rows, width, planes, ld_, by_rows_.data()}, r_, tau, t_);
      put_together(rows, width, planes, ld_, columns_.data(), Place{ld_, 1});
    } else {
      load(rows, width, a);
      factor_reflections<T>({rows, width, columns_.data(), ld_, by_rows_.data()}, r_, tau, t_);
    }
    store(rows, width, a);
  }
  /// Copies V, which A begins with below its diagonal.
  void take(const Products<T>& products, Index rows, Index width, Placed<const T> a, const T* tau) {
    load(rows, width, a);
    for (Index c = 0; c < width; ++c) {
      std::fill(v().at(c, 0), v().at(c, c), T(0));
      *v().at(c, c) = 1;
    }
    const Factor<T> all{v()};
    products.sums(width, width, rows, all, all.transposed().conjugated(), {g_.values, reflection_panel});
    for (Index i = 0; i < width; ++i)
      for (Index k = 0; k < i; ++k) g_.at(i, k) = g_.at(k, i);
    make_triangle(width, g_, tau, t_);
  }
  /// C := (I − V·T·Vᴴ)·C or, transposed, (I − V·Tᴴ·Vᴴ)·C, rows×count.
  void apply(const Products<T>& products, Index rows, Index width, bool transposed, Index count, Placed<T> c) {
    const Index strip = std::max(least_strip, strip_bytes / (rows * static_cast<Index>(sizeof(T))));
    for (Index first = 0; first < count; first += strip)
      apply_to_strip(products, rows, width, transposed, std::min(strip, count - first), c.from(0, first));
  }

 private:
  void apply_to_strip(const Products<T>& products, Index rows, Index width, bool transposed, Index count, Placed<T> c) {
    if constexpr (is_complex<T>) return apply_to_columns(products, rows, width, transposed, count, c);
    const Factor<T> transposed_v{v()}, t{{t_.values, reflection_panel}, transposed ? Op::Transpose : Op::None};
    if (c.by_rows) {
      const Block<T> sums{sums_.data(), count}, w{products_.data(), count};
      products.sums(width, count, rows, transposed_v, {c.block}, sums);
      products.sums(width, count, width, t, {sums}, w);
      products.subtract(rows, count, width, transposed_v.transposed(), {w}, c.block);
    } else {
      const Block<T> sums{sums_.data(), width}, w{products_.data(), width};
      products.sums(count, width, rows, {c.block}, transposed_v.transposed(), sums);
      products.sums(count, width, width, {sums}, t.transposed(), w);
      products.subtract(count, rows, width, {w}, transposed_v, c.block);
    }
  }
  /// Of complex numbers all three products are the transposes, whose first factors come from C, however C lies.
  void apply_to_columns(const Products<T>& products, Index rows, Index width, bool transposed, Index count,
                        Placed<T> c) {
    const Factor<T> transposed_v{v()}, columns{c.block, c.by_rows ? Op::Transpose : Op::None};
    const Block<T> sums{sums_.data(), width}, w{products_.data(), width};
    for (Index i = 0; transposed && i < width; ++i)
      for (Index k = 0; k < width; ++k) conjugates_.at(i, k) = conjugated_if(true, t_.at(i, k));
    const Factor<T> t{{(transposed ? conjugates_ : t_).values, reflection_panel},
                      transposed ? Op::None : Op::Transpose};
    products.sums(count, width, rows, columns, transposed_v.transposed().conjugated(), sums);
    products.sums(count, width, width, {sums}, t, w);
    if (c.by_rows)
      products.subtract_transposed(count, rows, width, {w}, transposed_v, c.block, false, {strip_rows, strip_.data()});
    else
      products.subtract(count, rows, width, {w}, transposed_v, c.block);
  }
  Block<T> v() { return {columns_.data(), ld_}; }

  void load(Index rows, Index width, Placed<const T> a) {
    if (a.by_rows)
      transpose<T>(rows, width, a.block, v());
    else
      for (Index c = 0; c < width; ++c) std::copy(a.block.at(c, 0), a.block.at(c, rows), v().at(c, 0));
    for (Index c = 0; c < width; ++c) std::fill(v().at(c, rows), v().at(c, rows + reflection_padding<T>), T(0));
  }
  void store(Index rows, Index width, Placed<T> a) {
    for (Index c = 0; c < width; ++c)
      for (Index i = 0; i <= c; ++i) *v().at(c, i) = r_.at(c, i);
    if (a.by_rows)
      transpose<T>(width, rows, v(), a.block);
    else
      for (Index c = 0; c < width; ++c) std::copy(v().at(c, 0), v().at(c, rows), a.block.at(c, 0));
    for (Index c = 0; c < width; ++c) {
      std::fill(v().at(c, 0), v().at(c, c), T(0));
      *v().at(c, c) = 1;
    }
  }

  static constexpr Index strip_rows = 128; ///< of the transpose; no bit depends on it
  Index ld_, width_;
  std::vector<T> columns_;
  std::vector<Part<T>> planes_, by_rows_;
  std::vector<T> sums_, products_, strip_;
  SmallMatrix<T> r_, g_, t_, conjugates_;
};

template <class T>
Placed<T> matrix(Op stored, T* data, Index ld) {
  return {{data, ld}, stored == Op::None};
}
template <class T>
Grid<T> grid(Op stored, T* data, Index ld) {
  const Grid<T> by_rows{data, ld};
  return stored == Op::None ? by_rows : by_rows.transposed();
}

template <class T>
void factor_by_reflections(Op stored, Index m, Index n, void* data, Index lda, void* factors,
                           const SolveOptions& options, detail::Shortage shortage) {
  T* const values = static_cast<T*>(data);
  T* const tau = static_cast<T*>(factors);
  const auto by_formula = [&] { model_qr(m, n, grid(stored, values, lda), tau); };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const Placed<T> a = matrix(stored, values, lda);
    const Products<T> products(options, shortage);
    const Index steps = std::min(m, n);
    ReflectionSpace<T> space(m, steps, n - std::min(steps, reflection_panel));
    products.run_steps(product_work(m, n, steps), [&] {
      for (Index j = 0; j < steps; j += reflection_panel) {
        const Index width = std::min(reflection_panel, steps - j), right = n - j - width;
        space.factor(m - j, width, a.from(j, j), tau + j);
        if (right > 0) space.apply(products, m - j, width, true, right, a.from(j, j + width));
      }
    });
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

template <class T>
void multiply(const detail::Reflections& q, Op op, Op stored, Index count, void* data, Index ldc,
              const SolveOptions& options, detail::Shortage shortage) {
  const T* const values = static_cast<const T*>(q.v);
  const T* const tau = static_cast<const T*>(q.tau);
  T* const c = static_cast<T*>(data);
  const bool transposed = op != Op::None;
  const auto by_formula = [&] {
    model_apply_q(q.m, q.k, grid(q.stored, values, q.ldv), tau, transposed, count, grid(stored, c, ldc));
  };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const Placed<const T> v = matrix(q.stored, values, q.ldv);
    const Placed<T> result = matrix(stored, c, ldc);
    const Products<T> products(options, shortage);
    ReflectionSpace<T> space(q.m, q.k, count);
    const Index panels = (q.k + reflection_panel - 1) / reflection_panel;
    products.run_steps(2 * product_work(q.m, count, q.k), [&] {
      for (Index step = 0; step < panels; ++step) {
        const Index j = (transposed ? step : panels - 1 - step) * reflection_panel;
        const Index width = std::min(reflection_panel, q.k - j);
        space.take(products, q.m - j, width, v.from(j, j), tau + j);
        space.apply(products, q.m - j, width, transposed, count, result.from(j, 0));
      }
    });
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

/// Makes the rectangle an identity's, whose diagonal begins in its row `row`.
template <class T>
void make_identity(Index rows, Index cols, Index row, Placed<T> a) {
  for (Index i = 0; i < (a.by_rows ? rows : cols); ++i)
    std::fill(a.block.at(i, 0), a.block.at(i, a.by_rows ? cols : rows), T(0));
  for (Index c = 0; c < cols && row + c < rows; ++c) *a.at(row + c, c) = 1;
}

template <class T>
void form(Op stored, Index m, Index n, Index k, void* data, Index lda, const void* factors, const SolveOptions& options,
          detail::Shortage shortage) {
  T* const values = static_cast<T*>(data);
  const T* const tau = static_cast<const T*>(factors);
  const auto by_formula = [&] { model_form_q(m, n, k, grid(stored, values, lda), tau); };
  if (options.backend == Backend::Reference) return by_formula();
  const auto blocked = [&] {
    const Placed<T> a = matrix(stored, values, lda);
    const Products<T> products(options, shortage);
    ReflectionSpace<T> space(m, k, n);
    make_identity(m, n - k, k, a.from(0, k));
    products.run_steps(product_work(m, n, k), [&] {
      for (Index end = k; end > 0;) {
        const Index j = (end - 1) / reflection_panel * reflection_panel;
        space.take(products, m - j, end - j, a.from(j, j), tau + j);
        make_identity(m, end - j, j, a.from(0, j));
        space.apply(products, m - j, end - j, false, n - j, a.from(j, j));
        end = j;
      }
    });
  };
  with_or_without_memory(shortage, blocked, by_formula);
}

} // namespace

void factor_qr_on_host(detail::NumberType type, Op stored, Index m, Index n, void* a, Index lda, void* tau,
                       const SolveOptions& options, detail::Shortage shortage) {
  if (m == 0 || n == 0) return;
  with_number(type, [&]<class T>(T) { factor_by_reflections<T>(stored, m, n, a, lda, tau, options, shortage); });
}

} // namespace linear_algebra

namespace detail {

void multiply_q(const Reflections& q, Op op, Op stored, Index count, void* c, Index ldc, const SolveOptions& options,
                Shortage shortage) {
  linear_algebra::enter("Qr", options, [&] {
    if (q.k == 0 || count == 0) return;
    linear_algebra::with_number(
        q.type, [&]<class T>(T) { linear_algebra::multiply<T>(q, op, stored, count, c, ldc, options, shortage); });
  });
}

void form_q(NumberType type, Op stored, Index m, Index n, Index k, void* a, Index lda, const void* tau,
            const SolveOptions& options, Shortage shortage) {
  linear_algebra::enter("Qr", options, [&] {
    if (n == 0) return;
    linear_algebra::with_number(
        type, [&]<class T>(T) { linear_algebra::form<T>(stored, m, n, k, a, lda, tau, options, shortage); });
  });
}

} // namespace detail
} // namespace tessera
