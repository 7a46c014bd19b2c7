/// strassen: halves m, n and k and computes the product of two 2×2 block matrices with seven products of blocks.
///
/// A level does 7/8 of the multiply-adds and 18 additions, which load 36 and store 18 blocks of a quarter of a matrix.
/// strassen_levels() says how deep the recursion goes, and simd multiplies the blocks. What m, n and k have beyond a
/// multiple of 2^levels is a conventional product. The shape alone decides the order of additions, so that any number
/// of threads gives the same bits. A result with a NaN or an Inf is computed again by simd, because sums of blocks
/// spread them, and overflow sooner than sums of terms. The error is relative to the largest elements; docs/strassen.md
/// derives the bound. Sources: V. Strassen, "Gaussian elimination is not optimal", Numer. Math. 13 (1969); the bound:
/// R. Brent (1970) and N. Higham, "Accuracy and Stability of Numerical Algorithms" (2002), §23.2.2.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/traffic.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/gemm/ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

/// A block of a matrix, as it is stored.
template <class T>
struct Block {
  T* data;
  Index rows, cols, ld;

  /// Returns the block of `height` rows and `width` columns whose first element is (i, j).
  Block part(Index i, Index j, Index height, Index width) const { return {data + i * ld + j, height, width, ld}; }
  /// Returns the upper (i = 0) or lower, left (j = 0) or right quarter.
  Block quarter(Index i, Index j) const { return part(i * (rows / 2), j * (cols / 2), rows / 2, cols / 2); }
  operator Block<const T>() const requires(!std::is_const_v<T>) { return {data, rows, cols, ld}; }
};

TESSERA_FMA_CLONES void add_row(const float* x, float sign, const float* y, float* z, Index n) {
  for (Index j = 0; j < n; ++j) z[j] = x[j] + sign * y[j];
}
TESSERA_FMA_CLONES void add_row(const double* x, double sign, const double* y, double* z, Index n) {
  for (Index j = 0; j < n; ++j) z[j] = x[j] + sign * y[j];
}

/// Says whether all elements are finite: x − x is NaN for NaN and Inf, and else zero.
TESSERA_FMA_CLONES bool is_finite_row(const float* x, Index n) {
  int others = 0;
  for (Index j = 0; j < n; ++j) others |= x[j] - x[j] == 0 ? 0 : 1;
  return others == 0;
}
TESSERA_FMA_CLONES bool is_finite_row(const double* x, Index n) {
  int others = 0;
  for (Index j = 0; j < n; ++j) others |= x[j] - x[j] == 0 ? 0 : 1;
  return others == 0;
}

/// Memory for the operands of one level: a sum of blocks of A, a sum of blocks of B, and a product.
template <class T>
struct Level {
  Block<T> s, t, p;
};

template <class T>
const GemmKernel& base = simd_f32;
template <>
const GemmKernel& base<double> = simd_f64;

/// One product on one executor.
template <class T>
class StrassenProduct {
 public:
  StrassenProduct(CpuExecutor& cpu, Queue& queue, const GemmCall& call)
      : cpu_(cpu), queue_(queue), call_(call), depth_(strassen_levels(call.m, call.n, call.k)) {
    Carver sizes;
    carve(sizes);
    memory_ = cpu.scratch().acquire(sizes.used());
    Carver arrays(memory_.data());
    carve(arrays);
  }

  /// C is written after everything else has succeeded.
  Status run() {
    const GemmOperands<T> x(call_);
    const Block<const T> a = stored(call_.op_a, x.a, x.lda, x.m, x.k), b = stored(call_.op_b, x.b, x.ldb, x.k, x.n);
    const Index m = even(x.m), n = even(x.n), k = even(x.k);
    Status status = multiply(part_a(a, 0, 0, m, k), part_b(b, 0, 0, k, n), result_.part(0, 0, m, n), 0);
    if (status.ok())
      status = conventional(part_a(a, 0, k, m, x.k - k), part_b(b, k, 0, x.k - k, n), result_.part(0, 0, m, n), 1);
    if (status.ok())
      status = conventional(part_a(a, 0, 0, m, x.k), part_b(b, 0, n, x.k, x.n - n), result_.part(0, n, m, x.n - n), 0);
    if (status.ok()) status = conventional(part_a(a, m, 0, x.m - m, x.k), b, result_.part(m, 0, x.m - m, x.n), 0);
    if (!status.ok()) return status;
    if (!is_finite()) return base<T>.run(base<T>, cpu_, queue_, call_);
    for_row_groups(cpu_, call_, 1, [&](Index first, Index last, int) {
      for (Index i = first; i < last; ++i)
        for (Index j = 0; j < x.n; ++j) store_scaled(x, result_.data[i * result_.ld + j], x.c[i * x.ldc + j]);
    });
    return {};
  }

 private:
  using Operand = Block<const T>;

  /// Returns the largest multiple of 2^levels that is not above `size`.
  Index even(Index size) const { return size >> depth_ << depth_; }

  static Operand stored(Op op, const T* data, Index ld, Index rows, Index cols) {
    return op == Op::None ? Operand{data, rows, cols, ld} : Operand{data, cols, rows, ld};
  }
  /// Returns rows and columns of op(A) or op(B), as they are stored.
  static Operand part(Op op, const Operand& x, Index i, Index j, Index rows, Index cols) {
    return op == Op::None ? x.part(i, j, rows, cols) : x.part(j, i, cols, rows);
  }
  Operand part_a(const Operand& a, Index i, Index p, Index rows, Index cols) const {
    return part(call_.op_a, a, i, p, rows, cols);
  }
  Operand part_b(const Operand& b, Index p, Index j, Index rows, Index cols) const {
    return part(call_.op_b, b, p, j, rows, cols);
  }

  Block<T> take(Carver& arrays, Index rows, Index cols) const {
    return {arrays.take<T>(static_cast<std::size_t>(rows * cols)), rows, cols, cols};
  }

  void carve(Carver& arrays) {
    result_ = take(arrays, call_.m, call_.n);
    for (int level = 1; level <= depth_; ++level) {
      const Index m = call_.m >> depth_ << (depth_ - level), n = call_.n >> depth_ << (depth_ - level),
                  k = call_.k >> depth_ << (depth_ - level);
      const bool turned_a = call_.op_a == Op::Transpose, turned_b = call_.op_b == Op::Transpose;
      levels_[level - 1] = {take(arrays, turned_a ? k : m, turned_a ? m : k),
                            take(arrays, turned_b ? n : k, turned_b ? k : n), take(arrays, m, n)};
    }
  }

  /// z := x + sign·y. z may be x.
  void add(const Operand& x, T sign, const Operand& y, const Block<T>& z) {
    constexpr double worth_a_thread = 1 << 15; // elements
    const int threads = threads_for(static_cast<double>(z.rows) * static_cast<double>(z.cols),
                                    cpu_.threads_for(call_.threads), worth_a_thread);
    constexpr Index tasks_per_thread = 8;
    const Index together = ceil_div<Index>(z.rows, tasks_per_thread * threads);
    cpu_.team().run(ceil_div(z.rows, together), threads, [&](Index task, int) {
      for (Index i = task * together; i < std::min(z.rows, (task + 1) * together); ++i)
        add_row(x.data + i * x.ld, sign, y.data + i * y.ld, z.data + i * z.ld, z.cols);
    });
  }

  /// c := op(a)·op(b) + beta·c, with strict sums.
  Status conventional(const Operand& a, const Operand& b, const Block<T>& c, double beta) {
    GemmCall call = call_;
    call.math = Math::Strict;
    call.m = c.rows;
    call.n = c.cols;
    call.k = call.op_a == Op::None ? a.cols : a.rows;
    if (call.m == 0 || call.n == 0 || call.k == 0) return {};
    call.alpha = 1;
    call.beta = beta;
    call.a = a.data;
    call.lda = a.ld;
    call.b = b.data;
    call.ldb = b.ld;
    call.c = c.data;
    call.ldc = c.ld;
    return base<T>.run(base<T>, cpu_, queue_, call);
  }

  /// c := op(a)·op(b), `level` levels below the whole product.
  Status multiply(const Operand& a, const Operand& b, const Block<T>& c, int level) {
    if (level == depth_) return conventional(a, b, c, 0);
    const auto quarter = [](Op op, const Operand& x, Index i, Index j) {
      return op == Op::None ? x.quarter(i, j) : x.quarter(j, i);
    };
    const Operand a11 = quarter(call_.op_a, a, 0, 0), a12 = quarter(call_.op_a, a, 0, 1);
    const Operand a21 = quarter(call_.op_a, a, 1, 0), a22 = quarter(call_.op_a, a, 1, 1);
    const Operand b11 = quarter(call_.op_b, b, 0, 0), b12 = quarter(call_.op_b, b, 0, 1);
    const Operand b21 = quarter(call_.op_b, b, 1, 0), b22 = quarter(call_.op_b, b, 1, 1);
    const Block<T> c11 = c.quarter(0, 0), c12 = c.quarter(0, 1), c21 = c.quarter(1, 0), c22 = c.quarter(1, 1);
    const auto& [s, t, p] = levels_[level];
    Status status;
    const auto product = [&](const Operand& x, const Operand& y, const Block<T>& z) {
      if (status.ok()) status = multiply(x, y, z, level + 1);
    };

    add(a11, +1, a22, s);
    add(b11, +1, b22, t);
    product(s, t, c22); // M1 = (A11 + A22)(B11 + B22)
    add(b21, -1, b11, t);
    product(a22, t, c21); // M4 = A22 (B21 − B11)
    add(c22, +1, c21, c11);
    add(a21, +1, a22, s);
    product(s, b11, p);   // M2 = (A21 + A22) B11
    add(c21, +1, p, c21); // C21 = M4 + M2
    add(c22, -1, p, c22);
    add(b12, -1, b22, t);
    product(a11, t, c12); // M3 = A11 (B12 − B22)
    add(c22, +1, c12, c22);
    add(a11, +1, a12, s);
    product(s, b22, p);   // M5 = (A11 + A12) B22
    add(c12, +1, p, c12); // C12 = M3 + M5
    add(c11, -1, p, c11);
    add(a21, -1, a11, s);
    add(b11, +1, b12, t);
    product(s, t, p);     // M6 = (A21 − A11)(B11 + B12)
    add(c22, +1, p, c22); // C22 = M1 − M2 + M3 + M6
    add(a12, -1, a22, s);
    add(b21, +1, b22, t);
    product(s, t, p);     // M7 = (A12 − A22)(B21 + B22)
    add(c11, +1, p, c11); // C11 = M1 + M4 − M5 + M7
    return status;
  }

  bool is_finite() {
    std::atomic<bool> finite = true;
    for_row_groups(cpu_, call_, 1, [&](Index first, Index last, int) {
      for (Index i = first; i < last; ++i)
        if (!is_finite_row(result_.data + i * result_.ld, result_.cols)) finite = false;
    });
    return finite;
  }

  CpuExecutor& cpu_;
  Queue& queue_;
  const GemmCall& call_;
  const int depth_;
  Scratch memory_;
  Block<T> result_{};
  Level<T> levels_[most_strassen_levels]{};
};

template <class T>
Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  if (strassen_levels(call.m, call.n, call.k) == 0) return base<T>.run(base<T>, executor, queue, call);
  return StrassenProduct<T>(cpu_of(executor), queue, call).run();
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

/// The count of 7^levels products of packed blocks, each of whose elements is moved once and packed once, and of 18
/// additions for each recursion. An addition takes the place of a multiply-add and counts as two operations.
GemmTraffic strassen_traffic(const GemmKernel&, const GemmCall& call) noexcept {
  const int levels = strassen_levels(call.m, call.n, call.k);
  double products = 1, additions = 0, moved = 0; // the last two in elements
  GemmSizes sizes(call);
  for (int level = 0; level < levels; ++level) {
    sizes.a /= 4;
    sizes.b /= 4;
    sizes.c /= 4;
    additions += products * (5 * sizes.a + 5 * sizes.b + 8 * sizes.c);
    products *= 7;
  }
  moved = 3 * additions + products * (3 * sizes.a + 3 * sizes.b + sizes.c);
  const double closing = levels > 0 ? 2 * GemmSizes(call).c : 0; // the check for NaN, and C := alpha·P + beta·C
  const double eighths = std::pow(7.0 / 8.0, levels);
  const auto element = static_cast<double>(size_of(call.type));
  const double result = result_accesses(call);
  return {product_operations(call) * eighths + 2 * additions, moved + closing + result,
          (moved + closing) * element + result * static_cast<double>(size_of(call.result))};
}

template <class T>
constexpr GemmKernel rung{.name = "strassen",
                          .summary = "seven products of halves instead of eight, down to simd",
                          .source = "Strassen 1969",
                          .type = dtype_of<T>,
                          .math = Math::Strassen,
                          .tile = {2 * least_strassen_size, 2 * least_strassen_size, 2 * least_strassen_size},
                          .run = run<T>,
                          .traffic = strassen_traffic};

} // namespace

const GemmKernel strassen_f32 = rung<float>;
const GemmKernel strassen_f64 = rung<double>;

} // namespace tessera::cpu
