#pragma once

/// The words of the two interfaces for row-major, transposed and conjugated.

#include <optional>

#include "product.hpp"

namespace tessera::blas {

/// The numbers of the CBLAS standard.
inline constexpr int row_major = 101, col_major = 102;
inline constexpr int no_trans = 111, trans = 112, conj_trans = 113;
inline constexpr int upper = 121, lower = 122, non_unit = 131, unit = 132, left_side = 141, right_side = 142;

template <class T>
Op op_of(int letter) {
  return letter == no_trans ? Op::None : letter == trans ? Op::Transpose : Element<T>::conjugate_transpose;
}
inline bool known(int letter) { return letter >= no_trans && letter <= conj_trans; }

template <class T>
std::optional<Op> parse_op(char letter) {
  switch (letter) {
    case 'N':
    case 'n':
      return Op::None;
    case 'T':
    case 't':
      return Op::Transpose;
    case 'C':
    case 'c':
      return Element<T>::conjugate_transpose;
    default:
      return std::nullopt;
  }
}

} // namespace tessera::blas
