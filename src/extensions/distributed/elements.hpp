#pragma once

/// Copies of rectangles of elements in host memory, whatever their type.

#include <cstddef>
#include <span>

#include <tessera/types.hpp>

namespace tessera::distributed {

/// Elements in host memory. Element (o, i) is outer_step·o + inner_step·i elements after the first one.
struct Elements {
  char* data = nullptr;
  Index outer_step = 0, inner_step = 0;
};

/// Copies `outer`×`inner` elements of `bytes` bytes: 2, 4, 8 or 16.
void copy_elements(const Elements& from, const Elements& to, Index outer, Index inner, std::size_t bytes) noexcept;

/// Replaces complex numbers of two parts, one after the other, by their conjugates.
void conjugate(char* numbers, Index count, DType part) noexcept;

/// Copies the elements whose indices are listed. One side may count from 0 on instead: pass an empty list for both of
/// its dimensions, and `outer` and `inner` say how many there are.
struct Picked {
  Elements elements;
  std::span<const Index> outer, inner;
};
void copy_picked(const Picked& from, const Picked& to, Index outer, Index inner, bool outer_innermost,
                 std::size_t bytes) noexcept;

} // namespace tessera::distributed
