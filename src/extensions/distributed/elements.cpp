#include "elements.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tessera::distributed {
namespace {

struct TwoWords {
  std::uint64_t first, second;
};

/// Calls `copy` with a pointer type of elements of this size.
template <class Copy>
void with_size(std::size_t bytes, Copy&& copy) noexcept {
  if (bytes == 2) return copy(std::uint16_t{});
  if (bytes == 4) return copy(std::uint32_t{});
  if (bytes == 8) return copy(std::uint64_t{});
  copy(TwoWords{});
}

/// Tiles keep the lines of both sides in the cache where one side is read across its lines.
constexpr Index tile = 32;

template <class E>
void copy_tiled(const Elements& from, const Elements& to, Index outer, Index inner) noexcept {
  const E* source = reinterpret_cast<const E*>(from.data);
  E* target = reinterpret_cast<E*>(to.data);
  for (Index first_o = 0; first_o < outer; first_o += tile)
    for (Index first_i = 0; first_i < inner; first_i += tile)
      for (Index i = first_i; i < std::min(first_i + tile, inner); ++i)
        for (Index o = first_o; o < std::min(first_o + tile, outer); ++o)
          target[o * to.outer_step + i * to.inner_step] = source[o * from.outer_step + i * from.inner_step];
}

Index at(std::span<const Index> list, Index number) noexcept {
  return list.empty() ? number : list[static_cast<std::size_t>(number)];
}

} // namespace

void copy_elements(const Elements& from, const Elements& to, Index outer, Index inner, std::size_t bytes) noexcept {
  if (outer == 0 || inner == 0) return;
  const auto line = [&](Index lines, Index length, Index from_step, Index to_step) {
    for (Index x = 0; x < lines; ++x)
      std::memcpy(to.data + static_cast<std::size_t>(x * to_step) * bytes,
                  from.data + static_cast<std::size_t>(x * from_step) * bytes,
                  static_cast<std::size_t>(length) * bytes);
  };
  if (from.outer_step == 1 && to.outer_step == 1) return line(inner, outer, from.inner_step, to.inner_step);
  if (from.inner_step == 1 && to.inner_step == 1) return line(outer, inner, from.outer_step, to.outer_step);
  with_size(bytes, [&]<class E>(E) { copy_tiled<E>(from, to, outer, inner); });
}

void conjugate(char* numbers, Index count, DType part) noexcept {
  visit_scalar(part, [&]<class T>(std::type_identity<T>) {
    T* parts = reinterpret_cast<T*>(numbers);
    for (Index i = 0; i < count; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
  });
}

void copy_picked(const Picked& from, const Picked& to, Index outer, Index inner, bool outer_innermost,
                 std::size_t bytes) noexcept {
  with_size(bytes, [&]<class E>(E) {
    const E* source = reinterpret_cast<const E*>(from.elements.data);
    E* target = reinterpret_cast<E*>(to.elements.data);
    const auto copy = [&](Index o, Index i) {
      target[at(to.outer, o) * to.elements.outer_step + at(to.inner, i) * to.elements.inner_step] =
          source[at(from.outer, o) * from.elements.outer_step + at(from.inner, i) * from.elements.inner_step];
    };
    if (outer_innermost)
      for (Index i = 0; i < inner; ++i)
        for (Index o = 0; o < outer; ++o) copy(o, i);
    else
      for (Index o = 0; o < outer; ++o)
        for (Index i = 0; i < inner; ++i) copy(o, i);
  });
}

} // namespace tessera::distributed
