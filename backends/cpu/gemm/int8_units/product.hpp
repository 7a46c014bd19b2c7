#pragma once

/// A part of a product in Math::Int8Units: packed lines, the certificate of each element, and the blocks of C.

#include <atomic>

#include "byte_tiles.hpp"
#include "cpu/executor.hpp"
#include "lines.hpp"

namespace tessera::cpu::int8_units {

/// Rows [row, row + rows) and columns [col, col + cols) of C.
struct Part {
  Index row, rows;
  Index col, cols;
};

/// Computes parts of C, one after another, in memory that it takes once.
class Product {
 public:
  /// Takes memory for parts of up to `rows` rows and `cols` columns. Throws HostMemoryShort.
  Product(CpuExecutor& cpu, Queue& queue, const GemmCall& call, Index rows, Index cols);

  /// Packs the rows of op(A), or the columns of op(B), of the parts that follow.
  void pack_rows(const Part& part);
  void pack_columns(const Part& part);
  /// Computes a part whose rows and columns are packed.
  Status run(const Part& part);

 private:
  struct Worker;
  /// A block of a part, in lines of the packed operands.
  struct Block {
    Index row, rows;
    Index col, cols;
  };

  void carve(Carver& carver);
  Worker worker(int slot) const;
  Block block(const Part& part, Index number) const;
  void pack(const Lines& lines, Form form, const PackedLines& to);
  void multiply(const Block& block, int plane, Index runs, Worker& work) const;
  Index mark(const Block& block, const Part& part, const Worker& work);
  void certify(const Block& block, const Part& part, Worker& work);
  Status compute_strict(const Part& part, bool into_c);
  void compute(const Block& block, const Part& part, Worker& work);
  void make_strict_sums(const Block& block, const Part& part, Worker& work) const;

  CpuExecutor& cpu_;
  Queue& queue_;
  const GemmCall& call_;
  const GemmOperands<double> x_;
  const ByteKernel& kernel_;
  const int threads_;
  const Index rows_, cols_; ///< of the largest part
  const Index side_;        ///< rows and columns of a block
  const Index ld_;          ///< elements from one row of a block's sums to the next

  Scratch scratch_;
  PackedLines a_, b_;
  std::uint8_t* is_uncertain_ = nullptr; ///< of each element of the part
  std::byte* workers_ = nullptr;
  std::size_t worker_bytes_ = 0;
  Scratch strict_;                     ///< the strict sums of a part, where many elements are uncertain
  const double* all_strict_ = nullptr; ///< that memory; null where few are
  std::atomic<Index> uncertain_ = 0;
};

/// Computes C in parts of up to `rows` rows and `cols` columns. Throws HostMemoryShort before any of C is written.
Status multiply_in_parts(CpuExecutor& cpu, Queue& queue, const GemmCall& call, Index rows, Index cols);

} // namespace tessera::cpu::int8_units
