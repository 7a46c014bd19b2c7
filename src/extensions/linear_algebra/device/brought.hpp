#pragma once

/// Matrices in the caller's host memory that are brought to a device once, and their results back once.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "choice.hpp"
#include "system.hpp"

namespace tessera::linear_algebra::device {

/// A matrix in host memory. `stored` says whether the memory holds A, m×n, or Aᵀ, row by row. `type` is the type of its
/// numbers, or of the parts of complex ones.
struct CallersMatrix {
  DType type;
  Op stored = Op::None;
  Index m = 0;
  Index n = 0;
  void* data = nullptr;
  Index ld = 0;
  bool is_complex = false;
};

/// Returns the device that is to compute so large a product with copies of its operands, if it has the steps; null if
/// not. A matrix of a single panel has no products.
inline Executor* device_for(const SolveOptions& options, const CallersMatrix& a, GemmShape shape) {
  if (options.backend == Backend::Reference || std::min(shape.m, shape.k) <= most_panel_columns) return nullptr;
  return device_of(options, a.type, shape, a.is_complex);
}

/// The caller's matrix in memory of the device, by rows. The constructor takes all memory.
class Brought {
 public:
  Brought(const Steps& steps, const CallersMatrix& a)
      : steps_(steps),
        a_(a),
        is_turned_(a.stored != Op::None),
        memory_(steps, true, a.m, a.n),
        stored_(steps, is_turned_, a.n, a.m) {}

  Place place() const { return memory_.place(); }
  void bring() const {
    steps_.bring(lines(), length(), a_.data, a_.ld, as_stored());
    if (is_turned_) steps_.transpose(a_.m, a_.n, stored_.place(), memory_.place());
  }
  void take_back() const {
    if (is_turned_) steps_.transpose(a_.n, a_.m, memory_.place(), stored_.place());
    steps_.fetch(lines(), length(), as_stored(), a_.data, a_.ld);
  }
  /// Takes one triangle of a square matrix back, as the memory holds it: blocks beside the diagonal at once, and blocks
  /// on it by way of host memory, because the caller's other triangle is not to be written.
  /// `begins` becomes true before anything is written.
  void take_back(Triangle triangle, bool& begins) const {
    if (is_turned_) steps_.transpose(a_.n, a_.m, memory_.place(), stored_.place());
    const Index n = a_.n, bytes = steps_.element();
    std::vector<char> block(static_cast<std::size_t>(square * square * bytes));
    begins = true;
    for (Index i = 0; i < n; i += square) {
      const Index size = std::min(square, n - i), left = triangle == Triangle::Lower ? 0 : i + size;
      const Index cols = triangle == Triangle::Lower ? i : n - left;
      steps_.fetch(size, cols, as_stored().at(i, left), host(i, left), a_.ld);
      steps_.fetch(size, size, as_stored().at(i, i), block.data(), square);
      for (Index row = 0; row < size; ++row) {
        const Index first = triangle == Triangle::Lower ? 0 : row, end = triangle == Triangle::Lower ? row + 1 : size;
        const char* const from = block.data() + (row * square + first) * bytes;
        std::copy_n(from, (end - first) * bytes, host(i + row, i + first));
      }
    }
  }

 private:
  static constexpr Index square = 256;
  Index lines() const { return is_turned_ ? a_.n : a_.m; }
  Index length() const { return is_turned_ ? a_.m : a_.n; }
  Place as_stored() const { return is_turned_ ? stored_.place() : memory_.place(); }
  char* host(Index i, Index j) const { return static_cast<char*>(a_.data) + (i * a_.ld + j) * steps_.element(); }

  const Steps& steps_;
  const CallersMatrix& a_;
  bool is_turned_;
  OptionalMatrix memory_, stored_;
};

/// Calls work(steps, begins) with steps of the matrix's numbers on the device that is to compute so large a product,
/// and returns what it made. Says no where there is no such device, or no memory to find out. `begins` becomes true
/// before the caller's memory is written.
template <class Work>
auto run_on_device(const SolveOptions& options, const CallersMatrix& a, GemmShape shape, const Work& work)
    -> std::optional<decltype(work(std::declval<const Steps&>(), std::declval<bool&>()))> {
  using Result = std::optional<decltype(work(std::declval<const Steps&>(), std::declval<bool&>()))>;
  return unless_refused({},
                        [&](bool& begins) -> Result {
                          Executor* const executor = device_for(options, a, shape);
                          if (executor == nullptr) return std::nullopt;
                          return work(Steps(*executor, a.type, a.is_complex), begins);
                        })
      .value_or(std::nullopt);
}
template <class Work>
auto run_on_device(const SolveOptions& options, const CallersMatrix& a, const Work& work) {
  return run_on_device(options, a, {a.m, a.n, std::min(a.m, a.n)}, work);
}

} // namespace tessera::linear_algebra::device
