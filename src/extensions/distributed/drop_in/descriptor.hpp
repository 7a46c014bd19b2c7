#pragma once

/// Descriptors of ScaLAPACK's matrices: dense ones with nine entries (DTYPE_ = 1), and those whose first block has a
/// size of its own, with eleven (DTYPE_ = 2, BLOCK_CYCLIC_2D_INB). A source of −1 says that every process of the row or
/// column has the elements.
///
/// Source: PB_CargFtoC and PB_Cchkmat of Reference ScaLAPACK 2.2.

#include <algorithm>

namespace tessera::drop_in {

/// The processes of a context, and the one that asks.
struct Processes {
  int rows = 0, cols = 0, row = 0, col = 0;
};

/// Rows or columns of a matrix, dealt in blocks: the first one to `source`, the others to the next processes in turn.
struct Dealing {
  int size = 0, first_block = 1, block = 1, source = 0;

  bool is_legal(int processes) const { return first_block >= 1 && block >= 1 && source >= -1 && source < processes; }
  bool is_replicated() const { return source == -1; }
  /// Returns the block that has the index, counted from 0.
  int block_of(int index) const { return index < first_block ? 0 : 1 + (index - first_block) / block; }
  /// Does the part of `count` indices begin with a block, and are its blocks of one size?
  bool begins_with_block(int index, int count) const {
    if (index >= first_block) return (index - first_block) % block == 0;
    return index == 0 && (first_block == block || count <= std::min(first_block, block));
  }
  /// Returns how many of the first `end` indices a process holds.
  int held(int end, int process, int processes) const {
    if (is_replicated() || processes == 1) return end;
    const int turn = (process - source + processes) % processes;
    if (end <= first_block) return turn == 0 ? end : 0;
    const int blocks = (end - first_block) / block, extra = (end - first_block) % block;
    const int others = turn == 0 ? blocks / processes : (blocks + processes - turn) / processes;
    return (turn == 0 ? first_block : 0) + others * block + ((blocks + 1) % processes == turn ? extra : 0);
  }
};

/// A descriptor of either kind.
struct Descriptor {
  static constexpr int dense = 1, with_first_blocks = 2;

  explicit Descriptor(const int* d) : type(d[0]), context(d[1]) {
    if (type == dense) {
      rows = {d[2], d[4], d[4], d[6]};
      cols = {d[3], d[5], d[5], d[7]};
      ld = d[8];
    } else if (type == with_first_blocks) {
      rows = {d[2], d[4], d[6], d[8]};
      cols = {d[3], d[5], d[7], d[9]};
      ld = d[10];
    }
  }

  int type, context;
  Dealing rows, cols;
  int ld = 1;
};

/// A part of a distributed matrix of m×n elements, with first row i and first column j, counted from 1.
struct Part {
  void* data;
  int i, j, m, n;
  Descriptor descriptor;

  /// Does ScaLAPACK take the arguments? Sizes of the part are positive.
  bool is_legal(int context, const Processes& grid) const {
    const Descriptor& d = descriptor;
    if (d.type != Descriptor::dense && d.type != Descriptor::with_first_blocks) return false;
    if (d.context != context || !d.rows.is_legal(grid.rows) || !d.cols.is_legal(grid.cols)) return false;
    if (i < 1 || j < 1 || i - 1 > d.rows.size - m || j - 1 > d.cols.size - n) return false;
    const bool has_columns = d.cols.held(d.cols.size, grid.col, grid.cols) > 0;
    return d.ld >= (has_columns ? std::max(1, d.rows.held(d.rows.size, grid.row, grid.rows)) : 1);
  }
  bool is_replicated() const { return descriptor.rows.is_replicated() || descriptor.cols.is_replicated(); }
  bool begins_with_block() const {
    return descriptor.rows.begins_with_block(i - 1, m) && descriptor.cols.begins_with_block(j - 1, n);
  }
};

} // namespace tessera::drop_in
