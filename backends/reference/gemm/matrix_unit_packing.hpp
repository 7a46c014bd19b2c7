#pragma once

/// Packs lines of operands (matrix_unit_chains.hpp) as a mode of matrix units sees them: the numbers of rows of op(A)
/// and of strips of op(B), or their terms in the emulated modes. After the last k there are zeros up to whole steps,
/// and so are the columns that a strip lacks.

#include <tessera/backend/kernel.hpp>

#include "matrix_unit_chains.hpp"

namespace tessera::host::matrix_units {

/// Packs `count` k of row i of op(A), from k number `first` on. The mode does not split operands.
void pack_row(const GemmCall& call, Index i, Index first, Index count, const Packed& to);
/// Packs `count` k of `cols` columns of op(B), from k number `first` and column j on.
void pack_strip(const GemmCall& call, Index first, Index count, Index j, Index cols, const Packed& to);

/// What is known of a line of f32 that is split, besides its terms. A row has one value of each, and a strip `width`.
struct SplitLine {
  float* factors;      ///< undo the scale of the chunk
  std::uint8_t* unfit; ///< becomes 1 where an element cannot be split, which is then packed as 0
};

/// Packs the terms of at most a chain of k of row i of op(A), in an emulated mode. Step number s of term t is packed as
/// step t·(steps of a chain) + s.
void split_row(const GemmCall& call, Index i, Index first, Index count, const Packed& to, const SplitLine& line);
/// Packs the terms of at most a chain of k of `cols` columns of op(B).
void split_strip(const GemmCall& call, Index first, Index count, Index j, Index cols, const Packed& to,
                 const SplitLine& line);

/// Copies `count` k of `cols` columns of op(B) of a call of f32 to `to`: row p of the strip goes to p·width.
void copy_strip(const GemmCall& call, Index first, Index count, Index j, Index cols, float* to);

} // namespace tessera::host::matrix_units
