#pragma once

/// Groups of small systems, computed side by side in lanes (lanes.hpp).

#include <algorithm>
#include <vector>

#include "call.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"
#include "lanes.hpp"

namespace tessera::linear_algebra {

/// Are the systems faster side by side than one by one? Lanes without a system of their own cost as much as others, and
/// a small system's single call costs more than its arithmetic.
template <class T>
bool are_fit_for_lanes(const Systems<T>& systems) {
  constexpr Index small = 32, most = 128;
  const Index size = std::max(systems.m, systems.n), count = systems.count;
  return (size <= small && 8 * count >= lane_count<T>) || (size <= most && 2 * count >= lane_count<T>);
}

/// The memory of one group of lanes, which a thread uses for one group after another.
template <class T>
class LaneGroup {
 public:
  explicit LaneGroup(const Systems<T>& systems);

  /// Computes systems first … first + count − 1, of which there are at most lane_count.
  void compute(Index first, Index count);

 private:
  /// How numbers of the caller's matrix stand in a lane's matrix.
  struct View {
    Index rows = 0, cols = 0;
    bool is_transposed = false; ///< number (i, j) is the caller's (j, i)
    bool conjugate = false;
    bool lower_alone = false; ///< nothing above the diagonal is read or written
  };

  bool has_even_rows(const Members<T>& members, const View& view, const std::int32_t* rows) const;
  void load(const Members<T>& from, Index column, const View& view, const Lanes<T>& to, const std::int32_t* rows) const;
  void store(const Lanes<T>& from, const View& view, const Members<T>& to, Index column, const std::int32_t* rows,
             bool spare_failed) const;
  void load_factor(bool conjugate);
  void factor();
  void factor_positive(bool conjugate);
  void take_pivots();
  void find_rows();
  void report() const;
  void solve_all_columns();
  void solve_lu(Index columns, const Lanes<T>& x) const;
  void solve_positive(Index columns, const Lanes<T>& x, bool conjugate_first) const;

  const Systems<T>& systems_;
  HostNumbers<T> matrix_memory_, x_memory_;
  Lanes<T> a_, x_;
  std::vector<std::int32_t> pivots_, rows_; ///< rows_: of P·B, by lanes
  Index info_[lane_count<T>] = {};
  Index first_ = 0, count_ = 0;
};

} // namespace tessera::linear_algebra
