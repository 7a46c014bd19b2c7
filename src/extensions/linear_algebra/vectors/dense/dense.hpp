#pragma once

/// The inner loops of dense matrices, general, triangular or packed, on processors with AVX2 and FMA: chains stay in
/// registers while they take many columns or rows. A chain is a number in memory between these loops; complex parts lie
/// side by side. There is room for two vectors after the last chain.

#include "extensions/linear_algebra/vectors/wide.hpp"

namespace tessera::vectors {

/// Columns one after another, in either direction: how far the next one is, and how much farther the one after it.
template <class N>
struct Walk {
  const N* first;
  Index step, growth;
};

/// Finds where the first `count` columns begin.
template <class N>
void columns_of(Walk<N> a, Index count, const N** column) {
  for (Index c = 0; c < count; ++c) {
    column[c] = a.first;
    a.first += a.step;
    a.step += a.growth;
  }
}

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

/// How the other triangle of a symmetric or Hermitian matrix follows from the stored one.
struct Mirror {
  bool upper; ///< the upper triangle is stored
  bool conjugates_stored, conjugates_mirrored, real_diagonal;
};

// Of find_unknowns and add_block: the columns of a triangle on the diagonal are a whole tile, or in a block.
#define TESSERA_DENSE(N)                                                                                     \
  /** chain[i] goes on with a(i, k)·x[k] for i < rows and for k = 0 … count − 1 in the walk's order. */ \
  void add_walk(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, N* chain) noexcept;  \
  /** chain[k] goes on with a(i, k)·x[i] for i < rows, ascending or descending, and `count` columns. */     \
  void add_turned(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, bool descending,   \
                  N* chain) noexcept;                                                                        \
  /** chain[i] goes on with the terms of a triangle, k ascending; x[k] belongs to column k. */               \
  void add_block(const Walk<N>& a, Index count, bool lower, const N* x, N* chain) noexcept;                  \
  /** chain[i] goes on with a(i, k)·x[k] of a square on the diagonal, of which a triangle counts. */        \
  void add_square(const Walk<N>& a, const Mirror& mirror, Index count, const N* x, N* chain) noexcept;       \
  /** Finds x[0 … count − 1]; chain has what was summed up for each, and is no longer needed. */         \
  void find_unknowns(const Walk<N>& a, Index count, bool forwards, bool is_unit, N* chain, N* x) noexcept;   \
  /** One triangle of the block becomes that triangle of the square's transpose. */                          \
  void turn_block(const Walk<N>& a, Index count, bool lower, bool conjugated, Block<N>& block) noexcept;     \
  /** The block becomes a copy of the square; the rest of these columns becomes 0. */                        \
  void copy_block(const Walk<N>& a, Index count, bool conjugated, Block<N>& block) noexcept;                 \
  void add_outer(const OuterWalk<N>& a, const N* u, const N* v, bool conjugates_u) noexcept;                 \
  /** Does the one, and then the other, for each column. */                                                  \
  void add_outers(const OuterWalk<N>& a, const N* u, const N* v, const N* other_u, const N* other_v) noexcept;
TESSERA_DENSE(float)
TESSERA_DENSE(double)
TESSERA_DENSE(ComplexNumber<float>)
TESSERA_DENSE(ComplexNumber<double>)
#undef TESSERA_DENSE

/// add_walk for matrices that come from memory, which is read a few columns at a time.
void add_swept(const Walk<ComplexNumber<float>>& a, Index rows, Index count, const ComplexNumber<float>* x,
               bool conjugated, ComplexNumber<float>* chain) noexcept;
void add_swept(const Walk<ComplexNumber<double>>& a, Index rows, Index count, const ComplexNumber<double>* x,
               bool conjugated, ComplexNumber<double>* chain) noexcept;

/// The same for four columns at any places and chains whose parts are apart, with x[c] for column c: for whole pairs of
/// vectors of the rows. Returns how many rows these are.
inline constexpr int few_at_once = 4;
Index add_few(const ComplexNumber<float>* const* columns, Index rows, const ComplexNumber<float>* x, bool conjugated,
              float* re, float* im) noexcept;
Index add_few(const ComplexNumber<double>* const* columns, Index rows, const ComplexNumber<double>* x, bool conjugated,
              double* re, double* im) noexcept;

/// add_turned for `count` columns at any places, at most `most_turned`.
inline constexpr Index most_turned = 16;
#define TESSERA_DENSE(N)                                                                                          \
  void add_turned(const N* const* columns, Index count, Index rows, const N* x, bool conjugated, bool descending, \
                  N* chain) noexcept;
TESSERA_DENSE(float)
TESSERA_DENSE(double)
TESSERA_DENSE(ComplexNumber<float>)
TESSERA_DENSE(ComplexNumber<double>)
#undef TESSERA_DENSE

} // namespace tessera::vectors
