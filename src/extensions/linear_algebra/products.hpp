#pragma once

/// The products of a blocked factorisation, on the backend that the caller chose, and loops on the host's threads.

#include <algorithm>
#include <atomic>
#include <exception>
#include <type_traits>

#include <tessera/backend/host_executor.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/backend/stored_product.hpp>
#include <tessera/backend/triangle_tiles.hpp>
#include <tessera/gemm.hpp>
#include <tessera/linear_algebra/options.hpp>

#include "chain.hpp"

namespace tessera::linear_algebra {

/// A rectangle of a row-major matrix in host memory.
template <class T>
struct Block {
  T* data = nullptr;
  Index ld = 0;

  T* at(Index i, Index j) const { return data + i * ld + j; }
  Block from(Index i, Index j) const { return {at(i, j), ld}; }
  operator Block<const T>() const requires(!std::is_const_v<T>) { return {data, ld}; }
};

/// Copies a matrix, rows×cols, to its transpose, some columns at a time so that their lines stay in the cache.
template <class T>
void transpose(Index rows, Index cols, Block<const T> from, Block<T> to) {
  constexpr Index strip = 16;
  for (Index first = 0; first < cols; first += strip)
    for (Index i = 0; i < rows; ++i)
      for (Index j = first; j < std::min(cols, first + strip); ++j) *to.at(j, i) = *from.at(i, j);
}

/// An operand of a product: a block as it is stored, or its transpose, and the conjugates of either.
template <class T>
struct Factor {
  Block<const T> stored;
  Op op = Op::None; ///< None or Transpose
  bool conjugate = false;

  /// Returns op(stored) for each op.
  static Factor of(Block<const T> stored, Op op) {
    return {stored, op == Op::None ? Op::None : Op::Transpose, is_complex<T> && op == Op::ConjugateTranspose};
  }

  /// Returns the rectangle from (i, j) on.
  Factor from(Index i, Index j) const {
    return {op == Op::None ? stored.from(i, j) : stored.from(j, i), op, conjugate};
  }
  Factor transposed() const { return {stored, op == Op::None ? Op::Transpose : Op::None, conjugate}; }
  Factor conjugated() const { return {stored, op, is_complex<T> && !conjugate}; }

  /// Returns the numbers from (i, j) on in row i, or in column j.
  Run<T> row(Index i, Index j) const { return {from(i, j).stored.data, op == Op::None ? 1 : stored.ld, conjugate}; }
  Run<T> column(Index i, Index j) const { return transposed().row(j, i); }
  T at(Index i, Index j) const { return row(i, j).at(0); }
};

/// Returns the operand for a backend that reads it as it is stored.
template <class T>
StoredOperand as_stored(const Factor<T>& x) {
  return {.data = x.stored.data, .ld = x.stored.ld, .is_transposed = x.op != Op::None, .is_conjugate = x.conjugate};
}

inline MatrixPart part_of(Triangle triangle) {
  return triangle == Triangle::Lower ? MatrixPart::Lower : MatrixPart::Upper;
}

/// Returns how many multiply-adds a product has.
inline double product_work(Index m, Index n, Index k) {
  return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

template <class T>
class Products {
 public:
  explicit Products(const SolveOptions& options, detail::Shortage shortage = {}, Math math = Math::Strict);

  /// C = alpha·A·B + beta·C, m×n over k terms. A factor that is conjugated is transposed, too. After the first product
  /// the result counts as written.
  void multiply(T alpha, Index m, Index n, Index k, Factor<T> a, Factor<T> b, T beta, Block<T> c) const;

  /// Computes C = alpha·A·B + beta·C, where the backend takes operands as they are stored, or a part of C. `call`
  /// has all members but the type and the threads. Returns false, and has written nothing, if it does not.
  bool multiply_as_stored(const StoredProductCall& call) const;
  /// Would multiply_as_stored() compute it, if memory is not short? Addresses do not matter.
  bool takes_as_stored(const StoredProductCall& call) const;

  /// Computes lines of numbers that meet a triangle, if the backend has tiles for it. `call` has all members but the
  /// type and the threads. Returns false, and has written nothing, if it has not.
  bool compute_in_tiles(const TriangleTilesCall& call) const;

  /// S = A·B, m×n over k terms.
  void sums(Index m, Index n, Index k, Factor<T> a, Factor<T> b, Block<T> s) const;
  /// C = C − A·B. With k of at most canonical_segment the sum of a segment is subtracted in one rounding.
  void subtract(Index m, Index n, Index k, Factor<T> a, Factor<T> b, Block<T> c) const;
  /// Does the same where `c` holds the transpose of C; with `is_lower`, for C's elements on and below the diagonal
  /// alone. C is computed in strips of some rows, for which there is memory. With is_lower, half of a square on the
  /// diagonal is computed in vain.
  struct Strips {
    Index rows;
    T* memory; ///< for rows·n numbers
  };
  void subtract_transposed(Index m, Index n, Index k, Factor<T> a, Factor<T> b, Block<T> c, bool is_lower,
                           Strips strips) const;

  /// Applies an operation to numbers in host memory, on the host's threads.
  void map(MapCall call) const;

  /// Returns the executor of the host.
  Executor& host() const { return host_; }
  /// Returns how many threads of the host there are for parts.
  Index threads() const { return options_.threads > 0 ? options_.threads : host_.capabilities().threads; }
  /// Calls body(begin, end) for parts of 0 … count − 1 on the host's threads. A part has at least `grain` indices.
  template <class Body>
  void in_parts(Index count, Index grain, const Body& body) const {
    run_parts({.count = count,
               .grain = grain,
               .body = [](const void* context, Index begin,
                          Index end) noexcept { (*static_cast<const Body*>(context))(begin, end); },
               .context = &body});
  }

  /// Returns products of the calling thread alone, for a task.
  Products alone() const {
    Products one = *this;
    one.options_.threads = 1;
    return one;
  }
  /// Calls task(i) for 0 … count − 1 on the host's threads, or one after another where a device computes the products.
  /// Throws what a task has thrown, after the others have ended.
  template <class Task>
  void run_tasks(Index count, const Task& task) const {
    std::exception_ptr failure;
    std::atomic_flag has_failed;
    in_parts(count, is_on_host_ ? 1 : count, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) try {
          task(i);
        } catch (...) {
          if (!has_failed.test_and_set()) failure = std::current_exception();
        }
    });
    if (failure) std::rethrow_exception(failure);
  }

  /// Calls steps(), whose products and parts follow each other so closely that the host's threads had better wait for
  /// them than sleep. `work` is about how many multiply-adds there are, of complex numbers if T is complex.
  template <class Steps>
  void run_steps(double work, const Steps& steps) const {
    std::exception_ptr failure;
    const auto without_throwing = [&]() noexcept {
      try {
        steps();
      } catch (...) {
        failure = std::current_exception();
      }
    };
    run_steps({.body = [](const void* context) noexcept { (*static_cast<decltype(&without_throwing)>(context))(); },
               .context = &without_throwing,
               .work = is_complex<T> ? 4 * work : work,
               .threads = options_.threads});
    if (failure) std::rethrow_exception(failure);
  }

 private:
  /// Fills in what `call` lacks, and returns the executor that computes it; null: none in host memory does.
  Executor* complete(StoredProductCall& call) const;
  void run_parts(RangeCall call) const;
  void run_steps(const StepsCall& call) const;

  GemmOptions options_;
  detail::Shortage shortage_;
  Executor& host_;
  bool is_on_host_; ///< no device was named
};

/// Throws the current exception, which says that memory is short, if the caller has errors and nothing of its memory is
/// written. Else slow loops go on, and a line on stderr says so.
void go_on_or_throw(detail::Shortage shortage);

/// Returns blocked(), or model() where memory is short and loops go on. When blocked() writes, it has all memory but
/// its products'.
template <class Blocked, class Model>
auto with_or_without_memory(detail::Shortage shortage, const Blocked& blocked, const Model& model) {
  try {
    return blocked();
  } catch (const OutOfMemory&) {
    go_on_or_throw(shortage);
  } catch (const std::bad_alloc&) {
    go_on_or_throw(shortage);
  }
  return model();
}

/// Computes a result in the caller's memory with or without memory. blocked(now) gives its Products the Shortage `now`;
/// they say when the first of them is done, and before a part of the result is written in another way, it says
/// begin_result(now).
template <class Blocked, class Model>
void complete_in_place(detail::Shortage shortage, const Blocked& blocked, const Model& model) {
  std::atomic<bool> is_written{false};
  if (shortage.is_written == nullptr) shortage.is_written = &is_written;
  with_or_without_memory(
      shortage, [&] { blocked(shortage); }, model);
}
inline void begin_result(detail::Shortage shortage) {
  if (shortage.is_written != nullptr) *shortage.is_written = true;
}

} // namespace tessera::linear_algebra
