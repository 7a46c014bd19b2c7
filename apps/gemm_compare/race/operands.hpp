#pragma once

/// The matrices of a product in an executor's memory. There are several sets of them, so that timed runs rotate past
/// the cache and each run meets different data.

#include <vector>

#include <tessera/executor.hpp>

#include "options/options.hpp"

namespace tessera::compare_app {

/// Memory of an executor. Move-only.
class Buffer {
 public:
  Buffer() = default;
  /// Throws OutOfMemory.
  Buffer(Executor& executor, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  void* data() const { return data_; }

 private:
  Executor* executor_ = nullptr;
  void* data_ = nullptr;
};

/// One stored matrix: rows × cols. A row is followed by `padding` elements, or padded to whole cache lines if `padding`
/// is negative.
struct Stored {
  Index rows = 0;
  Index cols = 0;
  Index ld = 1;
  DType type = DType::F32;

  Stored() = default;
  Stored(Index rows, Index cols, DType type, Index padding = -1);
  std::size_t bytes() const;
  std::size_t pitch() const { return static_cast<std::size_t>(ld) * size_of(type); }
  std::size_t width() const { return static_cast<std::size_t>(cols) * size_of(type); }
};

/// A product without its data: shape, operands as they are stored, scalars.
struct Problem {
  GemmShape shape;
  DType type = DType::F32; ///< of A and B; c has the type of the result
  Op op_a = Op::None;
  Op op_b = Op::None;
  double alpha = 1;
  double beta = 0;
  Stored a, b, c;

  Problem(const Options& options, const GemmShape& shape, DType type);
  /// Of operands that are small whole numbers, the largest sum on the way to an element of C; else infinity.
  double largest_sum = 0;
  /// Are the operands whole numbers that are so small that no kernel of this mode rounds, in any order of summation?
  /// Any difference is an error then: sums stay below 2²⁴ (2⁵³ for a result in f64, 2¹¹ in f16, 2⁸ in bf16).
  bool is_exact(Math math) const;

  std::size_t bytes() const { return a.bytes() + b.bytes() + (beta != 0 ? 2 : 1) * c.bytes(); }
};

/// Matrices that were read from files, in host memory.
struct GivenData {
  const void* a = nullptr;
  Index lda = 0;
  const void* b = nullptr;
  Index ldb = 0;
  const void* c = nullptr;
  Index ldc = 0;
};

class Operands {
 public:
  /// `count` sets of random matrices in host memory, or copies of the given ones.
  static Operands on_host(const Problem& problem, const Options& options, const GivenData* given, std::size_t count);
  /// Copies of the sets of `host` in a device's memory.
  static Operands on_device(const Problem& problem, const Operands& host, Executor& device);

  std::size_t count() const { return sets_.size(); }
  /// The product of one set. C points to the result's memory.
  GemmCall call(std::size_t set, Math math, int threads) const;
  /// The product of one set with C as it is before the product: a reference reads that.
  GemmCall call_before(std::size_t set) const;
  /// Prepares C for a run: it holds NaN if beta = 0, so that elements that are not written show, else its old contents.
  void prepare(std::size_t set, Executor& executor) const;
  /// Enqueues what prepare() does, and does not wait for it.
  Status enqueue_preparation(std::size_t set, Executor& executor) const;
  /// Copies A and B (and C if it is read) of one set to the device again; for timing.
  void copy_in(std::size_t set, const Operands& host, Executor& device) const;
  /// Copies the result of one set into host memory laid out as problem.c.
  void copy_out(std::size_t set, Executor& device, void* c) const;

 private:
  struct Set {
    Buffer a, b, c, before;
  };
  explicit Operands(const Problem& problem) : problem_(problem) {}
  void allocate(Executor& executor, std::size_t count);

  Problem problem_;
  std::vector<Set> sets_;
};

/// The number of sets that together are twice as large as the cache, as far as memory allows; at least one.
std::size_t sets_to_rotate(std::size_t set_bytes, std::size_t cache_bytes, std::size_t memory_bytes);

} // namespace tessera::compare_app
