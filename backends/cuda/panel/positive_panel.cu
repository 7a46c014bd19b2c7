/// A panel of Cholesky's factorisation: the square on the diagonal, and rows below it.
///
/// Each block of threads factors the square for itself, beside some of the rows below, which are treated alike. Columns
/// are taken in groups (positive_group.cuh), by threads that have a row each. Between two groups there are two
/// barriers. After them, these threads continue the sums of the next group's columns, whose factors lie in shared
/// memory; meanwhile the others, the helpers, do so for the columns after that, and write columns that are finished.
/// The block that reads the square last writes it, when no other one will read it any more.

#include "async_copy.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "positive_group.cuh"
#include "vectors.cuh"

namespace tessera::cuda {
namespace {

template <class T>
struct PositivePanel {
  T* a;
  Index lda;
  const T* s;
  Index lds;
  Index rows;
  int cols; ///< the rest, up to most_positive_columns(), is made a unit matrix
  Index first;
  Index* failed; ///< and, after it, how many blocks have read the square
};

template <class T, int rows_below>
struct PositiveShared {
  static constexpr int size = static_cast<int>(most_positive_columns(sizeof(T)));
  static constexpr int group = positive_group;
  static constexpr int rows = size + rows_below;
  static constexpr int padding = 16 / sizeof(T);
  T a[rows][size + 1]; ///< becomes L
  T s[rows][size + 1];
  alignas(16) T l[2][size][group + padding]; ///< the square's rows of a group, and of the group before
  bool writes_square;
};

template <class T, int rows_below>
class PositiveFactorisation {
  using Shared = PositiveShared<T, rows_below>;
  static constexpr int rows = Shared::rows, size = Shared::size, group = Shared::group;

 public:
  static constexpr int helpers = rows;
  static constexpr int threads = rows + helpers;

  __device__ PositiveFactorisation(const PositivePanel<T>& panel, Shared& shared)
      : p_(panel),
        shared_(shared),
        me_(static_cast<int>(threadIdx.x)),
        below_(panel.cols + static_cast<Index>(blockIdx.x) * rows_below),
        count_(panel.rows - below_ < rows_below ? static_cast<int>(panel.rows - below_) : rows_below) {}

  __device__ void run() {
    fetch();
#pragma unroll 1
    for (int base = 0; base < size; base += group) {
      PositiveRow<T> row, diagonal;
      const bool has_row = me_ < rows;
      if (has_row) load_elements(row, diagonal, base);
      __syncthreads(); // all have read the square on the diagonal
      if (has_row)
        factor(row, diagonal, base);
      else
        help(me_ - rows, base);
      __syncthreads();
    }
    store<threads>(me_, size - 2 * group);
    store<threads>(me_, size - group);
  }

 private:
  /// Reads the panel's rows of this block, the square first, with zeros where there is nothing and ones on the
  /// diagonal.
  __device__ void fetch() {
    const int col = me_ % size, row = me_ / size;
    fetch_rows(
        col, row, size, [&](int r) { return r < p_.cols && col <= r; }, 0, 0);
    fetch_rows(
        col, row, rows_below, [&](int r) { return r < count_; }, size, below_);
    wait_for_copies();
    __syncthreads();
    if (p_.cols == size) return;
    for (int c = p_.cols + me_; c < size; c += threads) shared_.a[c][c] = real_number<T>(1);
    __syncthreads();
  }
  template <class IsRead>
  __device__ void fetch_rows(int col, int row, int end, const IsRead& is_read, int to, Index from) {
    constexpr int at_once = threads / size;
    const T *a = p_.a + (from + row) * p_.lda + col, *s = p_.s + (from + row) * p_.lds + col;
#pragma unroll 4
    for (int r = row; r < end; r += at_once, a += at_once * p_.lda, s += at_once * p_.lds) {
      const bool here = col < p_.cols && is_read(r);
      copy_async(&shared_.a[to + r][col], here ? a : p_.a, here);
      copy_async(&shared_.s[to + r][col], here ? s : p_.s, here);
    }
  }

  __device__ __forceinline__ void load_elements(PositiveRow<T>& row, PositiveRow<T>& diagonal, int base) {
#pragma unroll
    for (int c = 0; c < group; ++c) {
      row.a[c] = me_ < base ? real_number<T>(1) : shared_.a[me_][base + c];
      diagonal.a[c] = shared_.a[base + me_ % group][base + c];
    }
  }
  __device__ __forceinline__ void factor(PositiveRow<T>& row, PositiveRow<T>& diagonal, int base) {
    load_sums(row, diagonal, base);
    if (!__all_sync(0xffffffffU, factor_group<true>(row, diagonal, me_ - base, [](int) {}))) {
      load_sums(row, diagonal, base);
      factor_group<false>(row, diagonal, me_ - base, [&](int c) { fail(base + c); });
    }
#pragma unroll
    for (int c = 0; c < group; ++c) {
      if (me_ >= base + c) shared_.a[me_][base + c] = row.l[c];
      if (me_ < size) shared_.l[parity(base)][me_][c] = row.l[c];
    }
  }
  static __device__ int parity(int base) { return base / group % 2; }
  __device__ void fail(int col) const {
    if (me_ == 0 && blockIdx.x == 0 && col < p_.cols && *p_.failed < 0) *p_.failed = p_.first + col;
  }

  /// Reads the sums of a group, and continues them with the group before.
  __device__ __forceinline__ void load_sums(PositiveRow<T>& row, PositiveRow<T>& diagonal, int base) {
    const int number = base + me_ % group;
#pragma unroll
    for (int c = 0; c < group; ++c) {
      row.s[c] = me_ < base ? T{} : shared_.s[me_][base + c];
      diagonal.s[c] = shared_.s[number][base + c];
    }
    if (base == 0) return;
    const auto& before = shared_.l[parity(base) ^ 1];
    T l[group], l_diagonal[group];
#pragma unroll
    for (int k = 0; k < group; ++k) l[k] = shared_.a[me_][base - group + k];
    read_vectors(l_diagonal, before[number]);
#pragma unroll
    for (int c = 0; c < group; ++c) {
      T other[group];
      read_vectors(other, before[base + c]);
#pragma unroll
      for (int k = 0; k < group; ++k) {
        const T factor = conjugate_of(other[k]);
        row.s[c] = multiply_add(l[k], factor, row.s[c]);
        diagonal.s[c] = multiply_add(l_diagonal[k], factor, diagonal.s[c]);
      }
    }
  }

  /// Continues two rows' sums, of half of the columns, with the group before the one at `base`, and writes the group
  /// before that.
  __device__ void help(int helper, int base) {
    constexpr int pairs = rows / 2, parts = helpers / pairs;
    const int one = helper % pairs, other_one = one + pairs, part = helper / pairs, before = base - group;
    if (base == 0) {
      if (helper == 0) count_reader();
      return;
    }
    T l[group], other_l[group];
#pragma unroll
    for (int k = 0; k < group; ++k) {
      l[k] = shared_.a[one][before + k];
      other_l[k] = shared_.a[other_one][before + k];
    }
    for (int col = base + group + part; col < size; col += parts) {
      T factors[group], sum = shared_.s[one][col], other_sum = shared_.s[other_one][col];
      read_vectors(factors, shared_.l[parity(before)][col]);
#pragma unroll
      for (int k = 0; k < group; ++k) {
        const T factor = conjugate_of(factors[k]);
        sum = multiply_add(l[k], factor, sum);
        other_sum = multiply_add(other_l[k], factor, other_sum);
      }
      shared_.s[one][col] = sum;
      shared_.s[other_one][col] = other_sum;
    }
    if (before > 0) store<helpers>(helper, before - group);
  }
  __device__ void count_reader() {
    const auto read = atomicAdd(reinterpret_cast<unsigned long long*>(p_.failed + 1), 1ULL);
    shared_.writes_square = read == gridDim.x - 1;
    if (shared_.writes_square) p_.failed[1] = 0;
  }

  /// Writes a group of columns, by `count` threads.
  template <int count>
  __device__ void store(int thread, int first) {
    constexpr int at_once = count / group;
    const int col = first + thread % group, row = thread / group;
    if (col >= p_.cols) return;
    if (shared_.writes_square)
      for (int r = row; r < p_.cols; r += at_once)
        if (col <= r) p_.a[r * p_.lda + col] = shared_.a[r][col];
    T* to = p_.a + (below_ + row) * p_.lda + col;
    for (int r = row; r < count_; r += at_once, to += at_once * p_.lda) *to = shared_.a[size + r][col];
  }

  const PositivePanel<T>& p_;
  Shared& shared_;
  const int me_;
  const Index below_; ///< the first row below the square
  const int count_;   ///< rows below the square
};

template <class T, int rows_below>
__global__ void __launch_bounds__(PositiveFactorisation<T, rows_below>::threads)
    factor_positive(PositivePanel<T> panel) {
  extern __shared__ __align__(16) unsigned char memory[];
  PositiveFactorisation<T, rows_below>(panel, *reinterpret_cast<PositiveShared<T, rows_below>*>(memory)).run();
}

template <class T, int rows_below>
Status launch(const Executor& executor, cudaStream_t stream, const PositivePanel<T>& panel) noexcept {
  if (executor.capabilities().shared_memory_per_block < sizeof(PositiveShared<T, rows_below>))
    return {StatusCode::Rejected, "a Cholesky panel that takes more shared memory than a block has"};
  const auto kernel = factor_positive<T, rows_below>;
  if (Status status = allow_most_shared(kernel, "Cholesky's panel"); !status.ok()) return status;
  const Index below = panel.rows - panel.cols, blocks = below > rows_below ? (below + rows_below - 1) / rows_below : 1;
  kernel<<<static_cast<unsigned>(blocks), PositiveFactorisation<T, rows_below>::threads,
           sizeof(PositiveShared<T, rows_below>), stream>>>(panel);
  return launched("Cholesky's panel");
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const PositivePanel<T> panel{static_cast<T*>(call.a),
                               call.lda,
                               static_cast<const T*>(call.s),
                               call.lds,
                               call.rows,
                               static_cast<int>(call.cols),
                               call.first,
                               call.failed};
  constexpr int few = 64, many = 128; // rows of a block below the square: few are faster, many need no second round
  const bool are_few = panel.rows - panel.cols <= Index{few} * executor.capabilities().multiprocessors;
  const cudaStream_t stream = stream_of(queue);
  if (!are_few)
    if (Status status = launch<T, many>(executor, stream, panel); status.code != StatusCode::Rejected) return status;
  return launch<T, few>(executor, stream, panel);
}

} // namespace

Status factor_positive_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return run<T>(executor, queue, call); });
}

} // namespace tessera::cuda
