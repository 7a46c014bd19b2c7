#pragma once

/// The inner loops of dense matrices, general, triangular or packed, on processors with AVX2 and FMA: chains stay in
/// registers while they take many columns or rows. A chain is a number in memory between these loops; complex parts lie
/// side by side. There is room for a vector after the last chain.

#include "wide.hpp"

namespace tessera::vectors {

/// Columns one after another, in either direction: how far the next one is, and how much farther the one after it.
template <class N>
struct Walk {
  const N* first;
  Index step, growth;
};

/// The most rows or columns of a block on the diagonal.
template <class N>
inline constexpr Index tile_size = sizeof(N) == 16 ? 8 : 16;

/// A block on the diagonal, column by column, and the numbers on either side of its diagonal that are its own.
template <class N>
struct Block {
  alignas(32) N column[tile_size<N>][tile_size<N>];
};

/// A product of vectors that is added to columns: a(i, k) += u[i]·v(k), k = 0 … count − 1, where column k has the rows
/// 0 … rows − 1, or those up to k + offset alone, or those from there on.
enum class Part { All, Upper, Lower };
template <class N>
struct OuterWalk {
  N* first; ///< row 0 of column 0
  Index step, growth;
  Index rows, count;
  Part part;
  Index offset;
};

#define TESSERA_DENSE(N)                                                                                            \
  /** chain[i] goes on with a(i, k)·x[k] for i < rows and for k = 0 … count − 1 in the walk's order. */        \
  void add_walk(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, N* chain) noexcept;         \
  /** chain[k] goes on with a(i, k)·x[i] for i < rows, ascending or descending, and the walk's `count` columns. */ \
  void add_turned(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, bool descending,          \
                  N* chain) noexcept;                                                                               \
  /** chain[i] goes on with the block's terms of a triangle, k ascending; x[k] belongs to column k. */              \
  void add_block(const Block<N>& block, Index count, bool lower, const N* x, bool conjugated, N* chain) noexcept;   \
  /** The block becomes the transpose of `rows` rows and `count` columns. */                                        \
  void turn_block(const Walk<N>& a, Index rows, Index count, Block<N>& block) noexcept;                             \
  /** Puts the triangle of `count` columns and rows into the block; the rest of the block stays. */                 \
  void put_in_block(const Walk<N>& a, Index count, bool upper, Block<N>& block) noexcept;                           \
  void add_outer(const OuterWalk<N>& a, const N* u, const N* v, bool conjugates_u) noexcept;                        \
  /** Does the one, and then the other, for each column. */                                                         \
  void add_outers(const OuterWalk<N>& a, const N* u, const N* v, const N* other_u, const N* other_v) noexcept;
TESSERA_DENSE(float)
TESSERA_DENSE(double)
TESSERA_DENSE(ComplexNumber<float>)
TESSERA_DENSE(ComplexNumber<double>)
#undef TESSERA_DENSE

} // namespace tessera::vectors
