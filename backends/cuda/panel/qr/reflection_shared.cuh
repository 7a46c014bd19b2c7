#pragma once

/// What the blocks of threads that factor a panel of QR have: arguments, sizes and shared memory.

#include <tessera/backend/panel.hpp>

#include "reflection_column.cuh"
#include "reflection_number.cuh"
#include "reflection_team.cuh"

namespace tessera::cuda {

/// The arguments of a panel's kernel: A in planes, V and T expanded (reflection_number.cuh).
template <class T>
struct Reflections {
  PlanePlace<T> a;
  ExpandedPlace<T> v;
  ExpandedPlace<T> t;
  T* tau;
  Index rows;
  int cols;
  Index first;
  Index* failed;
  T* segments;  ///< sums of each block: reflection_sums numbers
  void* memory; ///< of the team
};

inline constexpr int reflection_width = static_cast<int>(most_reflections);
inline constexpr int reflection_group = static_cast<int>(reflection_columns);
inline constexpr int reflection_sums = reflection_width * reflection_group;
inline constexpr int reflection_threads = team_warps * 32;
static_assert(reflection_group == team_warps && reflection_sums == reflection_threads && reflection_width == 32);

template <class T, class Team>
struct ReflectionShared {
  static constexpr int tiles = 4; ///< one that is read, and three on their way
  static constexpr int tile_rows = sizeof(T) == 16 ? 32 : 64;
  static constexpr int line = WarpColumn<T>::rows + 16 / static_cast<int>(sizeof(T)); ///< keeps columns in other banks
  typename Team::Shared team;
  alignas(16) T v[reflection_group][line];    ///< the group's vectors, by columns
  T tile[tiles][tile_rows][reflection_width]; ///< rows of the panel: V up to the group, and the columns after it
  T sums[reflection_width][reflection_group];
  T w[reflection_width][reflection_group]; ///< T's chains, and then Tᴴ·Vᴴ·C
  T t[reflection_width][reflection_width + 1];
  T tau[reflection_width];
  PartOf<T> scale; ///< of the column before
};

} // namespace tessera::cuda
