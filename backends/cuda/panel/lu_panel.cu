/// A panel of LU with partial pivoting, by blocks of threads that have some rows each.
///
/// The panel is taken in strips of 16 columns. A strip's elements lie in shared memory, by columns, and its sums
/// in registers, some rows a thread, rotated so that the current column's is the first. For each column each block
/// finds its best row and offers it to the others; all choose the same one, whose elements are U from the column on,
/// and go on with the sums of their rows. After a strip, its rows of U are finished for the panel's columns right of
/// it, and the sums of these columns go on.
///
/// A column costs the latency of two barriers of a block and of one message. Nothing else counts, up to some thousand
/// rows.

#include <algorithm>

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "exchange.cuh"
#include "panel.hpp"
#include "pivot.cuh"
#include "sources.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = 512;
constexpr int warps = threads / 32;
constexpr int panel_columns = static_cast<int>(most_panel_columns);

template <class T>
struct LuPanel {
  T* a;
  Index lda;
  T* s;
  Index lds;
  int rows, cols;
  Index first;
  Index* numbers;
  Index* failed;
  void* memory; ///< of GridExchange
};

/// A block's part, `each` rows a thread, in shared memory.
template <class T, int each, class Exchange>
struct LuShared {
  static constexpr int rows = each * threads;
  typename Exchange::Shared exchange;
  T a[strip][rows + 1]; ///< by columns; the padding keeps the rows of a warp's loads apart
  T u[strip][panel_columns];
  T block[strip][strip]; ///< the strip's square on the diagonal: L and U
  Pivot pivots[warps];
  int other[strip]; ///< pivots of the strip
  int to[2 * strip], from[2 * strip];
};

/// The factorisation as one block of the team sees it.
template <class T, int each, class Exchange>
class Factorisation {
  static constexpr int width = strip;
  using Shared = LuShared<T, each, Exchange>;

 public:
  __device__ Factorisation(const LuPanel<T>& panel, Shared& shared)
      : p_(panel),
        shared_(shared),
        exchange_(shared.exchange, panel.memory),
        me_(static_cast<int>(threadIdx.x)),
        rank_(static_cast<int>(blockIdx.x)),
        base_(rank_ * Shared::rows) {}

  __device__ void run() {
    for (int first = 0; first < p_.cols; first += width) {
      const int here = p_.cols - first < width ? p_.cols - first : width;
      load(first, here);
      for (int c = 0; c < here; ++c) factor_column(first, c);
      __syncthreads();
      store(first, here);
      exchange_rows(first, here);
      exchange_.wait_for_all();
      if (const int right = p_.cols - first - here; right > 0) update(first, here, right);
    }
    exchange_.wait_for_all(); // no block ends while another one sends to it
  }

 private:
  __device__ int row_of(int r) const { return base_ + r * threads + me_; }

  /// Reads the strip: sums to registers, by way of the memory of the elements, which come then.
  __device__ void load(int first, int here) {
    __syncthreads();
    fetch(p_.s + first, p_.lds, here);
    __syncthreads();
#pragma unroll
    for (int r = 0; r < each; ++r)
#pragma unroll
      for (int i = 0; i < width; ++i) s_[r][i] = shared_.a[i][r * threads + me_];
    __syncthreads();
    fetch(p_.a + first, p_.lda, here);
    __syncthreads();
  }
  __device__ void fetch(const T* from, Index ld, int here) {
    constexpr int at_once = threads / width, batch = 16;
    const int col = me_ % width, row = me_ / width;
    static_assert(Shared::rows % (at_once * batch) == 0);
    for (int begin = row; begin < Shared::rows; begin += at_once * batch) {
      T read[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int r = begin + u * at_once;
        read[u] = base_ + r < p_.rows && col < here ? from[(base_ + r) * ld + col] : T(0);
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) shared_.a[col][begin + u * at_once] = read[u];
    }
  }
  __device__ void store(int first, int here) {
    constexpr int at_once = threads / width;
    const int col = me_ % width;
    if (col >= here) return;
    for (int r = me_ / width; r < Shared::rows && base_ + r < p_.rows; r += at_once)
      p_.a[(base_ + r) * p_.lda + first + col] = shared_.a[col][r];
  }

  /// Factors column c of the strip that begins at column `first`, which is row j's too.
  __device__ void factor_column(int first, int c) {
    const int j = first + c;
    T value[each];
    Pivot best;
#pragma unroll
    for (int r = 0; r < each; ++r) {
      const int row = row_of(r);
      value[r] = shared_.a[c][r * threads + me_] - s_[r][0];
      if (const std::uint64_t order = order_of(value[r]); row >= j && row < p_.rows && order > best.order)
        best = {order, row};
    }
    best = pivot_of_warp<T>(best);
    if (me_ % 32 == 0) shared_.pivots[me_ / 32] = best;
    __syncthreads();
    best = pivot_of_warp<T>(shared_.pivots[me_ % warps]);
    prepare(j, c, best);
    __syncthreads();
    const Incoming<T> in = exchange_.exchange();
    Pivot pivot;
    for (int rank = me_ % 32; rank < static_cast<int>(gridDim.x); rank += 32)
      if (const Pivot other = in.offers[rank].pivot; other.order > pivot.order) pivot = other;
    pivot = pivot_of_warp<T>(pivot);
    const T* const u = in.offers[pivot.row / Shared::rows].row;
    const T divisor = u[c];
    if (me_ < width) shared_.block[c][me_] = u[me_];
    if (me_ == 0) shared_.other[c] = pivot.row;
    if (me_ == 0 && rank_ == 0) {
      p_.numbers[j] = p_.first + pivot.row;
      if (divisor == T(0) && *p_.failed < 0) *p_.failed = p_.first + j;
    }
#pragma unroll
    for (int r = 0; r < each; ++r) {
      const int row = row_of(r), place = r * threads + me_;
      if (row == j) {
#pragma unroll
        for (int i = 0; i < width; ++i) shared_.a[i][place] = u[i];
      }
      if (row == pivot.row && row != j) {
#pragma unroll
        for (int i = 0; i < width; ++i) {
          shared_.a[i][place] = in.top->a[i];
          s_[r][i] = in.top->s[i];
        }
        value[r] = in.top->a[c] - in.top->s[0];
      }
      if (row <= j) continue;
      const T l = divisor == T(0) ? value[r] : value[r] / divisor;
      shared_.a[c][place] = l;
#pragma unroll
      for (int i = 1; i < width; ++i) s_[r][i - 1] = fma(l, c + i < width ? u[c + i] : T(0), s_[r][i]);
    }
  }

  /// Makes the block's offer, and the row that changes places with the pivot's.
  __device__ void prepare(int j, int c, Pivot best) {
    Outgoing<T>& out = exchange_.out();
    if (me_ == 0) out.offer.pivot = best;
#pragma unroll
    for (int r = 0; r < each; ++r) {
      const int row = row_of(r), place = r * threads + me_;
      if (row == best.row) {
#pragma unroll
        for (int i = 0; i < width; ++i) {
          if (i < c) out.offer.row[i] = shared_.a[i][place];
          if (c + i < width) out.offer.row[c + i] = shared_.a[c + i][place] - s_[r][i];
        }
      }
      if (row == j) {
#pragma unroll
        for (int i = 0; i < width; ++i) {
          out.top.a[i] = shared_.a[i][place];
          out.top.s[i] = s_[r][i];
        }
      }
    }
  }

  /// Exchanges the rows of the panel's other columns, and of their sums right of the strip. Each block has some
  /// columns, of which each group of threads takes several at once, one row a thread.
  __device__ void exchange_rows(int first, int here) {
    constexpr int slots = 2 * width, groups = threads / slots, batch = 4;
    const int moved = 2 * here, slot = me_ % slots, group = me_ / slots;
    if (me_ < moved) {
      const int to = me_ < here ? first + me_ : shared_.other[me_ - here];
      shared_.to[me_] = to;
      shared_.from[me_] = source(to, first, here, shared_.other);
    }
    __syncthreads();
    const int to = slot < moved ? shared_.to[slot] : 0, from = slot < moved ? shared_.from[slot] : 0;
    const int left_out = p_.cols - here, lists = left_out + p_.cols - first - here;
    const int at_once = static_cast<int>(gridDim.x) * groups * batch;
    for (int begin = 0; begin < lists; begin += at_once) {
      T read[batch];
      T* column[batch];
      Index ld[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int list = begin + (u * static_cast<int>(gridDim.x) + rank_) * groups + group;
        const bool is_sum = list >= left_out;
        const int number = is_sum ? list - left_out : list;
        column[u] = is_sum ? p_.s + first + here + number : p_.a + (number < first ? number : number + here);
        ld[u] = is_sum ? p_.lds : p_.lda;
        if (list >= lists || from == to) column[u] = nullptr;
        if (column[u] != nullptr) read[u] = column[u][from * ld[u]];
      }
      __syncthreads();
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (column[u] != nullptr) column[u][to * ld[u]] = read[u];
    }
  }

  /// Finishes U's rows of the strip in the columns right of it, and goes on with the sums of the rows below.
  __device__ void update(int first, int here, int right) {
    const int begin = first + here;
    T u[width];
    if (me_ < right) {
      T sums[width];
#pragma unroll
      for (int k = 0; k < width; ++k) {
        u[k] = k < here ? p_.a[(first + k) * p_.lda + begin + me_] : T(0);
        sums[k] = k < here ? p_.s[(first + k) * p_.lds + begin + me_] : T(0);
      }
#pragma unroll
      for (int k = 0; k < width; ++k) {
        u[k] -= sums[k];
#pragma unroll
        for (int i = k + 1; i < width; ++i)
          if (i < here) sums[i] = fma(shared_.block[i][k], u[k], sums[i]);
      }
#pragma unroll
      for (int k = 0; k < width; ++k) shared_.u[k][me_] = u[k];
    }
    exchange_.wait_for_all(); // every block has read these rows
    if (rank_ == 0 && me_ < right)
      for (int k = 0; k < here; ++k) p_.a[(first + k) * p_.lda + begin + me_] = shared_.u[k][me_];
    const int lane = me_ % 32, row_from = me_ / 32;
#pragma unroll
    for (int half = 0; half < panel_columns; half += 32) {
      const int col = half + lane;
      if (half >= right) break;
      T of_column[width];
#pragma unroll
      for (int k = 0; k < width; ++k) of_column[k] = k < here && col < right ? shared_.u[k][col] : T(0);
      constexpr int batch = 8; // rows
      for (int base = row_from; base < Shared::rows; base += warps * batch) {
        T sum[batch];
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          const int row = base_ + base + u * warps;
          sum[u] = row >= begin && row < p_.rows && col < right ? p_.s[row * p_.lds + begin + col] : T(0);
        }
#pragma unroll
        for (int k = 0; k < width; ++k)
          if (k < here)
#pragma unroll
            for (int u = 0; u < batch; ++u) sum[u] = fma(shared_.a[k][base + u * warps], of_column[k], sum[u]);
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          const int row = base_ + base + u * warps;
          if (row >= begin && row < p_.rows && col < right) p_.s[row * p_.lds + begin + col] = sum[u];
        }
      }
    }
    exchange_.wait_for_all(); // other blocks exchange rows of these sums next
  }

  const LuPanel<T>& p_;
  Shared& shared_;
  Exchange exchange_;
  const int me_, rank_, base_;
  T s_[each][width];
};

template <class T, int each, class Exchange>
__global__ void __launch_bounds__(threads, 1) factor_lu(LuPanel<T> panel) {
  extern __shared__ __align__(16) unsigned char memory[];
  Factorisation<T, each, Exchange>(panel, *reinterpret_cast<LuShared<T, each, Exchange>*>(memory)).run();
}

template <class T, int each>
Status run_cluster(cudaStream_t stream, const LuPanel<T>& panel, int blocks) noexcept {
  const auto kernel = factor_lu<T, each, ClusterExchange<T>>;
  if (Status status = allow_most_shared(kernel, "LU panel"); !status.ok()) return status;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(blocks);
  config.blockDim = threads;
  config.dynamicSmemBytes = sizeof(LuShared<T, each, ClusterExchange<T>>);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = 1;
  if (blocks > 8)
    if (Status status = check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                              "larger clusters for an LU panel");
        !status.ok())
      return status;
  int clusters = 0;
  if (blocks > 8) // a part of a device may have no place for so large a cluster
    if (Status status = check(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), "room for an LU panel");
        !status.ok() || clusters == 0)
      return status.ok() ? Status{StatusCode::Rejected, "no room for a cluster of blocks"} : std::move(status);
  return check(cudaLaunchKernelEx(&config, kernel, panel), "LU panel");
}

template <class T, int each>
Status run_grid(Executor& executor, Queue& queue, LuPanel<T> panel, int blocks) noexcept {
  const auto kernel = factor_lu<T, each, GridExchange<T>>;
  constexpr std::size_t bytes = sizeof(LuShared<T, each, GridExchange<T>>);
  const cudaStream_t stream = stream_of(queue);
  if (Status status = allow_most_shared(kernel, "LU panel"); !status.ok()) return status;
  int resident = 0;
  if (Status status = check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes),
                            "room for an LU panel");
      !status.ok())
    return status;
  if (blocks > resident * executor.capabilities().multiprocessors)
    return {StatusCode::Rejected, "an LU panel of more rows than the device's multiprocessors hold at once"};
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, GridExchange<T>::bytes(blocks)); !status.ok()) return status;
  panel.memory = scratch.data();
  void* arguments[] = {&panel};
  return check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), static_cast<unsigned>(blocks),
                                           threads, arguments, bytes, stream),
               "LU panel");
}

/// Returns the fewest blocks of a power of two that hold the rows.
int power_of_two(int blocks) {
  int power = 1;
  while (power < blocks) power *= 2;
  return power;
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const LuPanel<T> panel{static_cast<T*>(call.a),
                         call.lda,
                         static_cast<T*>(call.s),
                         call.lds,
                         static_cast<int>(call.rows),
                         static_cast<int>(call.cols),
                         call.first,
                         call.numbers,
                         call.failed,
                         nullptr};
  constexpr int few = 1, many = 2; // rows of a thread
  const auto blocks = [&](int each) { return (panel.rows + each * threads - 1) / (each * threads); };
  if (executor.capabilities().compute_major == 9) {
    constexpr int fewest = 2, most = ClusterExchange<T>::most_blocks; // st.async is for clusters of several blocks
    const auto run_clusters = [&]() -> Status {
      if (blocks(few) <= most)
        return run_cluster<T, few>(stream_of(queue), panel, std::max(fewest, power_of_two(blocks(few))));
      if (blocks(many) <= most) return run_cluster<T, many>(stream_of(queue), panel, most);
      return {StatusCode::Rejected, "more rows than a cluster of blocks holds"};
    };
    if (Status status = run_clusters(); status.code != StatusCode::Rejected) return status;
  }
  return run_grid<T, few>(executor, queue, panel, blocks(few));
}

} // namespace

Status factor_lu_panel(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_rows = Index{1} << 30;
  if (call.rows > most_rows) return {StatusCode::Rejected, "an LU panel of more than 2^30 rows"};
  return call.type == DType::F32 ? run<float>(executor, queue, call) : run<double>(executor, queue, call);
}

} // namespace tessera::cuda
