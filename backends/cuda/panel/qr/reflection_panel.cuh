#pragma once

/// A panel of QR as one block of threads sees it: 1024 rows of the panel, a segment, or 512 of complex numbers.
///
/// Eight columns are a group, and each warp has one of them in registers. A column's largest number, its norm and its
/// products with the other columns are sums of chunks, which the blocks tell one another. A group's products with all
/// columns are sums of segments, which go by way of memory, and change the columns right of the group.

#include "cuda/panel/async_copy.cuh"
#include "reflection_column.cuh"
#include "reflection_shared.cuh"

namespace tessera::cuda {

template <class T, class Team>
class ReflectionFactor {
  using Shared = ReflectionShared<T, Team>;
  using Column = WarpColumn<T>;
  using Part = PartOf<T>;
  static constexpr int chunk = Column::chunk;

 public:
  __device__ ReflectionFactor(const Reflections<T>& panel, Shared& shared, int rank)
      : p_(panel),
        shared_(shared),
        team_(shared.team, panel.memory),
        rank_(rank),
        me_(static_cast<int>(threadIdx.x)),
        warp_(me_ / 32),
        lane_(me_ % 32),
        base_(static_cast<Index>(rank) * chunk),
        left_(panel.rows - base_),
        own_(left_ < 0       ? 0
             : left_ < chunk ? static_cast<int>(left_)
                             : chunk),
        column_(rank == 0, left_) {}

  __device__ void run() {
    if (me_ == 0) shared_.scale = 1;
    for (int first = 0; first < p_.cols; first += reflection_group) {
      const int here = p_.cols - first < reflection_group ? p_.cols - first : reflection_group;
      load(first, here);
      for (int g = 0; g < here; ++g) factor_column(first, g, here);
      __syncthreads();
      store(first, here);
      sum_segments(first, here);
      team_.sync(); // the segments' sums can be read
      add_segments();
      __syncthreads();
      begin_triangle(first);
      __syncthreads();
      if (warp_ == 0) finish_triangle(first, here);
      __syncthreads();
      if (first + here == p_.cols) break;
      update(first);
      team_.sync(); // so can the other block's rows
    }
    if (rank_ == 0) store_triangle();
  }

 private:
  static constexpr int of_vector = 16 / sizeof(T);
  static constexpr int adders = NumberOf<T>::is_complex ? 4 : 2;
  static constexpr int of_adder = reflection_group / adders; ///< vectors of a warp that adds
  struct alignas(16) Vector {
    T number[of_vector];
  };
  /// Reads rows of a vector of the group by one load; `row` is a multiple of their number.
  __device__ Vector vector_at(int k, int row) const { return *reinterpret_cast<const Vector*>(&shared_.v[k][row]); }
  __device__ PlanePlace<T> a_at(int row, int col) const { return p_.a.at(base_ + row, col); }

  /// Reads the group, each warp a column, by way of shared memory.
  __device__ void load(int first, int here) {
    constexpr int at_once = reflection_threads / reflection_group, count = Column::rows / at_once;
    static_assert(count * at_once == Column::rows);
    const int col = me_ % reflection_group, row = me_ / reflection_group;
    T read[count];
#pragma unroll
    for (int u = 0; u < count; ++u)
      read[u] = col < here && row + u * at_once < left_ ? a_at(row + u * at_once, first + col).read_through() : T{};
#pragma unroll
    for (int u = 0; u < count; ++u) shared_.v[col][row + u * at_once] = read[u];
    __syncthreads();
    column_.load(shared_.v[warp_]);
  }

  /// Finds the reflection of column g of the group, and applies it to the group's columns after it.
  __device__ void factor_column(int first, int g, int here) {
    const int j = first + g;
    if (warp_ == g) find_reflection(j, shared_.v[g]);
    __syncthreads();
    const T tau = shared_.tau[j];
    if (warp_ <= g || warp_ >= here || is_zero(tau)) return;
    const T product = sum_of_chunks(j, column_.inner_product(j, shared_.v[g]));
    column_.add(j, multiplied(-conjugate_of(tau), product), shared_.v[g]);
  }

  /// The sum of squares goes with the largest magnitude, in the hope that the scale is the one of the column before.
  __device__ void find_reflection(int j, T* v) {
    const Part hoped = shared_.scale;
    team_.exchange({real_number<T>(column_.sum_of_squares(j, hoped)), column_.row(j), column_.largest_below(j)});
    unsigned largest = 0;
    for (int round = 0; 32 * round + lane_ < static_cast<int>(gridDim.x); ++round) {
      const unsigned other = team_.message(round).largest;
      largest = other > largest ? other : largest;
    }
    largest = largest_of_warp(largest);
    const T alpha = team_.first();
    const Part alpha_re = real_part_of(alpha);
    if constexpr (NumberOf<T>::is_complex) { // a column of one number is turned, so that R's is real
      const unsigned of_im = key_of(alpha.im);
      largest = of_im > largest ? of_im : largest;
    }
    const bool is_reflected = largest != 0;
    Part scale = hoped;
    T factor{}, beta = alpha, tau{};
    if (is_reflected) {
      const unsigned of_alpha = key_of(alpha_re);
      scale = inverse_power<Part>(of_alpha > largest ? of_alpha : largest);
      const Part squares = real_part_of(
          scale == hoped ? added_chunks(j) : sum_of_chunks(j, real_number<T>(column_.sum_of_squares(j, scale))));
      const Part norm = sqrt(squares), to = signbit(alpha_re) ? norm : -norm;
      beta = real_number<T>(to * (Part(1) / scale));
      tell_reflection(with_scale(alpha, scale), to, factor, tau);
    }
    column_.become_reflection(j, is_reflected, scale, factor, beta, v);
    __syncwarp(); // all lanes have read the scale of the column before
    if (lane_ != 0) return;
    shared_.scale = scale;
    shared_.tau[j] = tau;
    if (rank_ != 0) return;
    p_.tau[j] = tau;
    if (is_zero(beta) && *p_.failed < 0) *p_.failed = p_.first + j;
  }
  /// Finds what v's numbers are multiplied by, and tau, of a column that begins with `from` and becomes `to`.
  __device__ static void tell_reflection(T from, Part to, T& factor, T& tau) {
    if constexpr (NumberOf<T>::is_complex) {
      factor = Dividing<T>({from.re - to, from.im}).divide(real_number<T>(1));
      tau = {(to - from.re) / to, -from.im / to};
    } else {
      factor = T(1) / (from - to);
      tau = (to - from) / to;
    }
  }

  /// Returns the sum of all blocks' chunks of a sum from row j on.
  __device__ T sum_of_chunks(int j, T mine) {
    team_.exchange({mine});
    return added_chunks(j);
  }
  __device__ T added_chunks(int j) const {
    const int count = static_cast<int>((p_.rows - j + chunk - 1) / chunk);
    T total{};
    for (int begin = 0; begin < count; begin += 32) {
      const int here = count - begin < 32 ? count - begin : 32;
      const T mine = lane_ < here ? team_.message(begin / 32).sum : T{};
      for (int i = 0; i < here; ++i) {
        const T sum = number_of_lane(mine, i, 32);
        total = begin + i == 0 ? sum : total + sum;
      }
    }
    return total;
  }

  /// Writes V, and R and V in A's place; the rows that the next block has, too, are its.
  __device__ void store(int first, int here) {
    const int col = me_ % reflection_group;
    for (int row = me_ / reflection_group; col < here && row < own_; row += reflection_threads / reflection_group) {
      const T number = shared_.v[col][row];
      p_.v.write(base_ + row, first + col, number);
      if (base_ + row > first + col) a_at(row, first + col).write(number);
    }
    if (rank_ == 0 && warp_ < here && lane_ <= first + warp_) a_at(lane_, first + warp_).write(column_.first_row());
  }

  /// Sums the products of the group's vectors with all columns over the block's rows: V up to the group, and the
  /// columns after it. Some warps add, each by some of the vectors, a lane a column; tiles of rows come to shared
  /// memory meanwhile.
  __device__ void sum_segments(int first, int here) {
    constexpr int height = Shared::tile_rows, ahead = Shared::tiles - 1;
    const bool is_in_group = lane_ >= first && lane_ < first + here;
    PlanePlace<T> from = lane_ < first ? p_.v.planes(base_, lane_) : a_at(0, lane_);
    from.skip(warp_ * rows_of_warp);
    const int count = lane_ < p_.cols && !is_in_group ? own_ : 0;
    const auto fetch = [&](int tile) {
      fetch_rows(tile, tile * height + warp_ * rows_of_warp, count, from);
      from.skip(height);
    };
    for (int tile = 0; tile < ahead; ++tile) fetch(tile);
    T chains[of_adder] = {};
    const int tiles = (own_ + height - 1) / height;
    for (int tile = 0; tile < tiles; ++tile) {
      wait_for_groups<ahead - 1>();
      __syncthreads(); // the tile is there, and the one before has been added
      fetch(tile + ahead);
      if (warp_ >= adders) continue;
      const T* const numbers = is_in_group ? &shared_.v[lane_ - first][tile * height] : &tile_at(tile, 0);
      add_tile(tile * height, numbers, is_in_group ? 1 : reflection_width, chains);
    }
    if (warp_ >= adders) return;
#pragma unroll
    for (int i = 0; i < of_adder; ++i)
      p_.segments[static_cast<Index>(rank_) * reflection_sums + lane_ * reflection_group + warp_ * of_adder + i] =
          chains[i];
  }
  static constexpr int rows_of_warp = Shared::tile_rows / team_warps;
  /// Returns this lane's number in a row of a tile.
  __device__ T& tile_at(int tile, int row) const { return shared_.tile[tile % Shared::tiles][row][lane_]; }
  /// Begins to bring this warp's rows of a tile, of which the first one is `row`, and which lie from `from` on.
  __device__ __forceinline__ void fetch_rows(int tile, int row, int count, PlanePlace<T> from) const {
#pragma unroll
    for (int u = 0; u < rows_of_warp; ++u, from.skip(1))
      if (row + u < count) from.copy_to(&tile_at(tile, warp_ * rows_of_warp + u));
    end_group_of_copies();
  }
  /// Some rows of a tile, and of this warp's vectors.
  struct Rows {
    static constexpr int count = sizeof(T) == 16 ? 2 : 4;
    T number[count];
    Vector v[of_adder][count / of_vector];
  };
  __device__ __forceinline__ void read_rows(Rows& rows, int row, const T* numbers, int step) const {
#pragma unroll
    for (int u = 0; u < Rows::count; ++u) rows.number[u] = numbers[u * step];
#pragma unroll
    for (int i = 0; i < of_adder; ++i)
#pragma unroll
      for (int of = 0; of < Rows::count; of += of_vector)
        rows.v[i][of / of_vector] = vector_at(warp_ * of_adder + i, row + of);
  }
  static __device__ __forceinline__ void add_rows(const Rows& rows, T (&chains)[of_adder]) {
#pragma unroll
    for (int u = 0; u < Rows::count; ++u)
#pragma unroll
      for (int i = 0; i < of_adder; ++i)
        chains[i] =
            multiply_add(rows.number[u], conjugate_of(rows.v[i][u / of_vector].number[u % of_vector]), chains[i]);
  }
  /// Adds a tile that begins in row `begin`; the next rows are read while some are added.
  __device__ __forceinline__ void add_tile(int begin, const T* numbers, int step, T (&chains)[of_adder]) const {
    constexpr int height = Shared::tile_rows, batch = Rows::count;
    const int count = own_ - begin < height ? own_ - begin : height;
    int r = 0;
    if (count == height) {
      Rows even, odd;
      read_rows(even, begin, numbers, step);
#pragma unroll 1
      for (; r < height; r += 2 * batch) {
        read_rows(odd, begin + r + batch, numbers + (r + batch) * step, step);
        add_rows(even, chains);
        if (r + 2 * batch < height) read_rows(even, begin + r + 2 * batch, numbers + (r + 2 * batch) * step, step);
        add_rows(odd, chains);
      }
    }
    for (; r < count; ++r)
#pragma unroll
      for (int i = 0; i < of_adder; ++i)
        chains[i] =
            multiply_add(numbers[r * step], conjugate_of(shared_.v[warp_ * of_adder + i][begin + r]), chains[i]);
  }

  /// Adds the segments of all blocks.
  __device__ void add_segments() {
    constexpr int batch = 16;
    const int count = static_cast<int>((p_.rows + chunk - 1) / chunk);
    T total{};
    for (int begin = 0; begin < count; begin += batch) {
      T read[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        read[u] = begin + u < count ? read_shared_number(p_.segments + (begin + u) * reflection_sums + me_) : T{};
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (begin + u < count) total = begin + u == 0 ? read[u] : total + read[u];
    }
    shared_.sums[me_ / reflection_group][me_ % reflection_group] = total;
  }

  /// Begins the chains of the group's columns of T, each warp one and a lane a row, with the columns before the group.
  /// The first block alone needs rows before the group's.
  __device__ void begin_triangle(int first) {
    T chain{};
    for (int from = 0; rank_ == 0 && from < first; from += reflection_group)
#pragma unroll
      for (int k = from; k < from + reflection_group; ++k)
        if (lane_ <= k) chain = multiply_add(shared_.t[lane_][k], conjugate_of(shared_.sums[k][warp_]), chain);
    shared_.w[lane_][warp_] = chain;
  }
  /// Goes on with the group's columns, one after another.
  __device__ void finish_triangle(int first, int here) {
    T* const row = shared_.t[lane_];
    for (int i = 0; i < here; ++i) {
      T chain = shared_.w[lane_][i];
#pragma unroll
      for (int k = 0; k < reflection_group; ++k)
        if (k < i && lane_ <= first + k)
          chain = multiply_add(row[first + k], conjugate_of(shared_.sums[first + k][i]), chain);
      const T tau = shared_.tau[first + i];
      row[first + i] = lane_ < first + i ? multiplied(-tau, chain) : lane_ == first + i ? tau : T{};
    }
  }

  /// Applies the group's reflections to the columns after it, a lane a column.
  __device__ void update(int first) {
    const int end = first + reflection_group;
    const int of = me_ / reflection_group, l = me_ % reflection_group;
    T chain{};
#pragma unroll
    for (int k = 0; k < reflection_group; ++k)
      chain = multiply_add(shared_.sums[of][k], conjugate_of(shared_.t[first + k][first + l]), chain);
    shared_.w[of][l] = chain;
    __syncthreads();
    if (lane_ < end || lane_ >= p_.cols) return;
    T w[reflection_group];
#pragma unroll
    for (int k = 0; k < reflection_group; ++k) w[k] = shared_.w[lane_][k];
    constexpr int batch = rows_of_warp, step = Shared::tile_rows; // a batch's rows are all of R, or none is
    constexpr int ahead = Shared::tiles - 1;
    const int start = base_ + warp_ * batch < first ? warp_ * batch + step : warp_ * batch;
    PlanePlace<T> to = a_at(start, lane_), from = to;
    const auto fetch = [&](int tile) {
      fetch_rows(tile, start + tile * step, own_, from);
      from.skip(step);
    };
    for (int tile = 0; tile < ahead; ++tile) fetch(tile);
    int tile = 0;
    for (int begin = start; begin < own_; begin += step, ++tile, to.skip(step)) {
      fetch(tile + ahead);
      wait_for_groups<ahead>(); // the numbers that this thread copied, which it alone reads
      T number[batch], sum[batch] = {};
#pragma unroll
      for (int u = 0; u < batch; ++u) number[u] = tile_at(tile, warp_ * batch + u);
#pragma unroll
      for (int k = 0; k < reflection_group; ++k)
#pragma unroll
        for (int of = 0; of < batch; of += of_vector) {
          const Vector v = vector_at(k, begin + of);
#pragma unroll
          for (int u = 0; u < of_vector; ++u) sum[of + u] = multiply_add(w[k], v.number[u], sum[of + u]);
        }
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (begin + u < own_) to.at(u, 0).write(number[u] - sum[u]);
    }
  }

  __device__ void store_triangle() const {
    for (int r = warp_; r < p_.cols; r += team_warps)
      if (lane_ < p_.cols) p_.t.write(r, lane_, lane_ < r ? T{} : shared_.t[r][lane_]);
  }

  const Reflections<T>& p_;
  Shared& shared_;
  Team team_;
  const int rank_, me_, warp_, lane_;
  const Index base_, left_;
  const int own_; ///< rows that no other block writes
  Column column_;
};

} // namespace tessera::cuda
