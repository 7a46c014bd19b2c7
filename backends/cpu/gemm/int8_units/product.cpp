#include "product.hpp"

#include <algorithm>
#include <new>
#include <span>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/int8_units_contract.hpp>

#include "cpu/gemm/common/row_loops.hpp"
#include "reference/fma_clones.hpp"
#include "reference/gemm/finish_row.hpp"
#include "remainders.hpp"

namespace tessera::cpu::int8_units {
namespace {

constexpr Index largest_side = 256, least_side = 32;
/// Runs whose sums fit int32: 255·128·512·64 < 2³⁰.
constexpr Index runs_before_reduction = 64;
/// Elements by which a row of sums is longer than a block, so that rows do not compete for one place in the caches.
constexpr Index row_gap = 16;

Index padded(Index count, Index unit) { return (count + unit - 1) / unit * unit; }

/// Returns rows and columns of a block: smaller ones where the threads would not all have work.
Index side_of_blocks(Index rows, Index cols, int threads) {
  constexpr Index blocks_a_thread = 3;
  Index side = largest_side;
  while (side > least_side && ((rows + side - 1) / side) * ((cols + side - 1) / side) < blocks_a_thread * threads)
    side /= 2;
  return side;
}

Lines rows_of(const GemmOperands<double>& x, Index first, Index count) {
  const Lines all = x.op_a == Op::None ? Lines{x.a, x.lda, 1, x.m, x.k} : Lines{x.a, 1, x.lda, x.m, x.k};
  return all.from(first, count);
}
Lines columns_of(const GemmOperands<double>& x, Index first, Index count) {
  const Lines all = x.op_b == Op::None ? Lines{x.b, 1, x.ldb, x.n, x.k} : Lines{x.b, x.ldb, 1, x.n, x.k};
  return all.from(first, count);
}

/// Strict sums are few where they are added up one by one: at most one in this many elements.
constexpr Index elements_for_one_strict = 512;

TESSERA_FMA_CLONES double strict_sum(const double* a, const double* b, Index k) {
  const auto length = static_cast<std::size_t>(k);
  return int8::strict_sum(std::span(a, length), std::span(b, length));
}

/// Returns the elements of a line, which are copied to `copy` unless they are neighbours.
const double* contiguous(const Lines& line, double* copy) {
  if (line.k_step == 1) return line.data;
  for (Index p = 0; p < line.k; ++p) copy[p] = line.data[p * line.k_step];
  return copy;
}

TESSERA_FMA_CLONES void finish(const GemmOperands<double>& x, const Epilogue& epilogue, Index row, Index col,
                               Index cols, double* sums) {
  host::finish_row(x.alpha, x.beta, epilogue, row, col, cols, sums, x.c + row * x.ldc + col);
}

} // namespace

/// A thread's memory.
struct Product::Worker {
  void* pack;
  std::int32_t* sums;      ///< of a block
  std::uint8_t* residues;  ///< of a block, plane by plane
  std::int64_t* sizes;     ///< of a block, in the memory of its residues
  double* row_sums;        ///< of a row of the block
  double* strict;          ///< the strict sums of a block's uncertain elements
  std::int64_t* exponents; ///< of these
  double* row;             ///< a row of op(A), for strict sums
  double* column;          ///< a column of op(B)

  Worker(Carver& carver, Index side, Index k) {
    const auto elements = static_cast<std::size_t>(side * (side + row_gap)), width = static_cast<std::size_t>(side);
    pack = carver.take<std::byte>(pack_scratch_bytes());
    sums = carver.take<std::int32_t>(elements);
    residues = carver.take<std::uint8_t>(elements * static_cast<std::size_t>(residue_planes));
    sizes = reinterpret_cast<std::int64_t*>(residues);
    row_sums = carver.take<double>(width);
    strict = carver.take<double>(elements);
    exponents = carver.take<std::int64_t>(width);
    row = carver.take<double>(static_cast<std::size_t>(k));
    column = carver.take<double>(static_cast<std::size_t>(k));
  }
};

Product::Product(CpuExecutor& cpu, Queue& queue, const GemmCall& call, Index rows, Index cols)
    : cpu_(cpu),
      queue_(queue),
      call_(call),
      x_(call),
      kernel_(byte_kernel(cpu.isa())),
      threads_(threads_for_product(cpu, call)),
      rows_(rows),
      cols_(cols),
      side_(side_of_blocks(rows, cols, threads_)),
      ld_(side_ + row_gap) {
  Carver sizes;
  carve(sizes);
  scratch_ = cpu.scratch().acquire(sizes.used());
  Carver carver(scratch_.data());
  carve(carver);
}

void Product::carve(Carver& carver) {
  a_ = PackedLines(carver, rows_, x_.k);
  b_ = PackedLines(carver, cols_, x_.k);
  is_uncertain_ = carver.take<std::uint8_t>(static_cast<std::size_t>(rows_ * cols_));
  Carver one;
  Worker(one, side_, x_.k);
  worker_bytes_ = one.used();
  workers_ = carver.take<std::byte>(static_cast<std::size_t>(threads_) * worker_bytes_);
}

Product::Worker Product::worker(int slot) const {
  Carver carver(workers_ + static_cast<std::size_t>(slot) * worker_bytes_);
  return {carver, side_, x_.k};
}

Product::Block Product::block(const Part& part, Index number) const {
  const Index across = (part.cols + side_ - 1) / side_;
  const Index row = number / across * side_, col = number % across * side_;
  return {row, std::min(side_, part.rows - row), col, std::min(side_, part.cols - col)};
}

void Product::pack(const Lines& lines, Form form, const PackedLines& to) {
  cpu_.team().run((lines.count + tile_lines - 1) / tile_lines, threads_,
                  [&](Index group, int slot) { pack_group(lines, group, form, to, worker(slot).pack); });
}

void Product::pack_rows(const Part& part) { pack(rows_of(x_, part.row, part.rows), Form::A, a_); }

void Product::pack_columns(const Part& part) {
  pack(columns_of(x_, part.col, part.cols), kernel_.b_in_quads ? Form::BInQuads : Form::B, b_);
}

/// Adds up the first `runs` runs of a block of a plane. The sums of sizes go to `sizes`, others stay in `sums`, below
/// 2³⁰.
void Product::multiply(const Block& block, int plane, Index runs, Worker& work) const {
  const bool of_sizes = plane == residue_planes;
  const Sums sums{work.sums, ld_, padded(block.rows, tile_lines), padded(block.cols, tile_lines)};
  const auto run_of = [&](const PackedLines& x, Index number, Index first, Index lines) {
    return x.run(plane, number, first / tile_lines, lines / tile_lines);
  };
  if (of_sizes) std::fill_n(work.sizes, sums.rows * ld_, std::int64_t{0});
  bool first = true;
  for (Index number = 0; number < runs; ++number) {
    const Run a = run_of(a_, number, block.row, sums.rows), b = run_of(b_, number, block.col, sums.cols);
    Ahead ahead;
    if (number + 1 < runs) {
      const Run next_a = run_of(a_, number + 1, block.row, sums.rows);
      const Run next_b = run_of(b_, number + 1, block.col, sums.cols);
      ahead = {next_a.first, next_b.first, next_a.groups * next_a.group_bytes(), next_b.groups * next_b.group_bytes()};
    }
    kernel_.multiply(a, b, sums, first, ahead);
    first = false;
    const bool full = (number + 1) % runs_before_reduction == 0;
    if (of_sizes && (full || number + 1 == runs)) {
      for (Index i = 0; i < sums.rows * ld_; ++i) work.sizes[i] += work.sums[i];
      first = true;
    } else if (full) {
      reduce(work.sums, sums.rows * ld_, int8::moduli[static_cast<std::size_t>(plane)]);
    }
  }
}

/// Marks the uncertain elements of a block by what is known of the sums of sizes. Returns how many there are.
Index Product::mark(const Block& block, const Part& part, const Worker& work) {
  const int bits = int8::whole_number_bits(x_.k);
  Index count = 0;
  for (Index i = 0; i < block.rows; ++i) {
    const int8::Line& row = a_.facts[block.row + i];
    std::uint8_t* const marks = is_uncertain_ + (block.row + i) * part.cols + block.col;
    for (Index j = 0; j < block.cols; ++j) {
      marks[j] = !int8::is_certain(row, b_.facts[block.col + j], work.sizes[i * ld_ + j], bits);
      count += marks[j];
    }
  }
  return count;
}

/// Finds out which elements of a block are uncertain. Sums of sizes only grow, so that a part of k nearly always shows
/// that all are certain.
void Product::certify(const Block& block, const Part& part, Worker& work) {
  constexpr Index share = 8;
  const Index some = (a_.runs() + share - 1) / share;
  multiply(block, residue_planes, some, work);
  if (mark(block, part, work) == 0) return;
  multiply(block, residue_planes, a_.runs(), work);
  uncertain_.fetch_add(mark(block, part, work), std::memory_order_relaxed);
}

/// Computes the strict product of a part: the part itself, or its sums.
Status Product::compute_strict(const Part& part, bool into_c) try {
  GemmCall strict = call_;
  strict.math = Math::Strict;
  strict.m = part.rows;
  strict.n = part.cols;
  strict.a = rows_of(x_, part.row, part.rows).data;
  strict.b = columns_of(x_, part.col, part.cols).data;
  if (into_c) {
    strict.c = x_.c + part.row * x_.ldc + part.col;
    return cpu_.gemm(queue_, strict);
  }
  if (strict_.data() == nullptr)
    strict_ = cpu_.scratch().acquire(static_cast<std::size_t>(rows_ * cols_) * sizeof(double));
  strict.c = strict_.data();
  strict.ldc = part.cols;
  strict.alpha = 1;
  strict.beta = 0;
  strict.epilogue = {};
  Status status = cpu_.gemm(queue_, strict);
  if (status.ok()) all_strict_ = static_cast<const double*>(strict_.data());
  return status;
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

/// Adds up the strict sums of a block's uncertain elements one by one.
void Product::make_strict_sums(const Block& block, const Part& part, Worker& work) const {
  for (Index j = 0; j < block.cols; ++j) {
    const double* column = nullptr;
    for (Index i = 0; i < block.rows; ++i) {
      if (is_uncertain_[(block.row + i) * part.cols + block.col + j] == 0) continue;
      if (column == nullptr) column = contiguous(columns_of(x_, part.col + block.col + j, 1), work.column);
      const double* const row = contiguous(rows_of(x_, part.row + block.row + i, 1), work.row);
      work.strict[i * ld_ + j] = strict_sum(row, column, x_.k);
    }
  }
}

/// Computes a block of C.
void Product::compute(const Block& block, const Part& part, Worker& work) {
  const Index elements = side_ * ld_;
  for (int plane = 0; plane < residue_planes; ++plane) {
    multiply(block, plane, a_.runs(), work);
    reduce(work.sums, block.rows * ld_, int8::moduli[static_cast<std::size_t>(plane)],
           work.residues + plane * elements);
  }
  if (uncertain_.load(std::memory_order_relaxed) != 0 && all_strict_ == nullptr) make_strict_sums(block, part, work);
  const int bits = int8::whole_number_bits(x_.k);
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.cols; ++j)
      work.exponents[j] = a_.facts[block.row + i].exponent + b_.facts[block.col + j].exponent - 2 * bits;
    put_together(work.residues + i * ld_, elements, block.cols, work.exponents, work.row_sums);
    const Index at = (block.row + i) * part.cols + block.col;
    const double* const strict = all_strict_ != nullptr ? all_strict_ + at : work.strict + i * ld_;
    for (Index j = 0; j < block.cols; ++j)
      if (is_uncertain_[at + j] != 0) work.row_sums[j] = strict[j];
    finish(x_, call_.epilogue, part.row + block.row + i, part.col + block.col, block.cols, work.row_sums);
  }
}

Status Product::run(const Part& part) {
  const Index blocks = (part.rows + side_ - 1) / side_ * ((part.cols + side_ - 1) / side_);
  uncertain_ = 0;
  all_strict_ = nullptr;
  cpu_.team().run(blocks, threads_, [&](Index number, int slot) {
    Worker work = worker(slot);
    certify(block(part, number), part, work);
  });
  // A product of its own is the quickest way to many strict sums. Where memory for it is short, the blocks add them up:
  // parts of C may have been written already.
  const Index elements = part.rows * part.cols;
  if (uncertain_ > elements / elements_for_one_strict) {
    const bool into_c = uncertain_ == elements && call_.epilogue.empty();
    const Status status = compute_strict(part, into_c);
    if (status.ok() ? into_c : status.code != StatusCode::OutOfMemory) return status;
  }
  cpu_.team().run(blocks, threads_, [&](Index number, int slot) {
    Worker work = worker(slot);
    compute(block(part, number), part, work);
  });
  return {};
}

Status multiply_in_parts(CpuExecutor& cpu, Queue& queue, const GemmCall& call, Index rows, Index cols) {
  Product product(cpu, queue, call, rows, cols);
  for (Index col = 0; col < call.n; col += cols) {
    Part part{0, 0, col, std::min(cols, call.n - col)};
    product.pack_columns(part);
    for (Index row = 0; row < call.m; row += rows) {
      part.row = row;
      part.rows = std::min(rows, call.m - row);
      if (col == 0 || call.m > rows) product.pack_rows(part);
      if (Status status = product.run(part); !status.ok()) return status;
    }
  }
  return {};
}

} // namespace tessera::cpu::int8_units
