/// The tiles and the micro-kernel of a group are chosen once, so that a product costs little more than its tiles. A
/// task is a range of neighbouring products; one loop has the tasks of all groups. While a product is computed, the
/// operands of the next one are prefetched, because batches mostly come from memory or from the last-level cache.
/// Source: the batches of small products in libxsmm and MKL.

#include "batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <variant>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/direct_tile.hpp"
#include "cpu/gemm/common/update.hpp"

namespace tessera::cpu {
namespace {

double work_of(const GemmCall& call) {
  return static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
}

/// The products of one group, each computed by the direct micro-kernel on the calling thread.
template <class T>
class SmallProducts {
 public:
  /// `l2_bytes` is the size of one core's L2.
  SmallProducts(const GemmBatch& group, const MicroKernel<T>& kernel, std::size_t l2_bytes)
      : group_(&group), x_(group.call), kernel_(&kernel), size_(choose_tile(DirectView<T>(x_), kernel)) {
    const double each = static_cast<double>(x_.m * x_.k + x_.k * x_.n + x_.m * x_.n) * sizeof(T);
    const auto l2 = static_cast<double>(l2_bytes);
    asks_ahead_ = each < l2 / 4 && each * static_cast<double>(group.count) > l2;
  }

  /// Returns the bytes of memory that run() needs for a copy of a transposed B; 0 where it has room on the stack.
  std::size_t copy_bytes() const {
    const Index room = x_.op_b == Op::Transpose ? x_.k * copy_ld() : 0;
    return room > most_near ? (static_cast<std::size_t>(room) * sizeof(T) + 63) / 64 * 64 : 0;
  }

  /// `far` has room for copy_bytes() bytes.
  void run(Index first, Index last, void* far) const {
    alignas(64) T near[most_near];
    T* const b_copy = copy_bytes() > 0 ? static_cast<T*>(far) : near;
    Operands next = at(first);
    for (Index i = first; i < last; ++i) {
      const Operands product = next;
      next = at(std::min(i + 1, last - 1));
      multiply(product, next, b_copy);
    }
  }

 private:
  static constexpr Index most_near = 16384 / sizeof(T);   ///< elements of a copy of B that is on the stack
  static constexpr Index largest_tile = 8192 / sizeof(T); ///< elements of sums on the stack: of a row, or all of a tile

  struct Operands {
    const T* a;
    const T* b;
    T* c;
  };
  Operands at(Index i) const {
    if (group_->has_pointers())
      return {static_cast<const T*>(group_->a[i]), static_cast<const T*>(group_->b[i]), static_cast<T*>(group_->c[i])};
    return {x_.a + i * group_->stride_a, x_.b + i * group_->stride_b, x_.c + i * group_->stride_c};
  }

  /// Says what a tile prefetches: lines as far from its B as an operand of the next product is from the B of this one.
  /// Tiles of the same columns take turns with the next B, A and C.
  struct Ahead {
    const T* from;
    const void* operands[3];
    Index operator()(Index turn) const {
      const auto there = reinterpret_cast<std::intptr_t>(operands[turn % 3]);
      return (there - reinterpret_cast<std::intptr_t>(from)) / static_cast<Index>(sizeof(T));
    }
  };
  Ahead ahead(const T* b, const Operands& next) const {
    if (!asks_ahead_) return {b, {b, b, b}};
    return {b, {next.b, x_.lda == x_.ldb ? next.a : next.b, x_.ldc == x_.ldb ? next.c : next.b}};
  }

  void multiply(const Operands& product, const Operands& next, T* b_copy) const {
    const bool flip_a = x_.op_a == Op::Transpose;
    const bool flip_b = x_.op_b == Op::Transpose;
    const T* b = product.b;
    Index ldb = x_.ldb;
    if (flip_b) {
      transpose(b, b_copy);
      b = b_copy;
      ldb = copy_ld();
    }
    const Ahead distance = ahead(b, next);
    const bool in_place = x_.k <= canonical_segment && x_.alpha == T{1} && x_.beta == T{0};
    DirectTile<T> tile{.rows = 0,
                       .cols = 0,
                       .k = x_.k,
                       .a = product.a,
                       .a_row = flip_a ? 1 : x_.lda,
                       .a_step = flip_a ? x_.lda : 1,
                       .b = b,
                       .b_step = ldb,
                       .b_col = 1,
                       .b_ahead = 0,
                       .more = false,
                       .tile = product.c,
                       .ld = x_.ldc};
    const Index columns = in_place ? size_.n : std::min<Index>(size_.n, largest_tile);
    for (Index j = 0; j < x_.n; j += columns) { // down the rows first, so that a tile's columns of B are still in L1
      tile.cols = static_cast<int>(std::min(columns, x_.n - j));
      Index turn = 0;
      for (Index i = 0; i < x_.m; i += size_.m) {
        tile.b_ahead = distance(turn++);
        tile.rows = static_cast<int>(std::min<Index>(size_.m, x_.m - i));
        tile.a = product.a + i * tile.a_row;
        tile.b = b + j;
        T* const c = product.c + i * x_.ldc + j;
        if (in_place) {
          tile.tile = c;
          kernel_->multiply_direct(tile);
        } else {
          multiply_segments(tile, c);
        }
      }
    }
  }

  /// Computes a tile that has several segments, or alpha and beta to apply.
  void multiply_segments(DirectTile<T> tile, T* c) const {
    alignas(64) T sums[largest_tile];
    alignas(64) T waiting[largest_tile];
    tile.tile = sums;
    tile.ld = tile.cols;
    if (x_.k <= canonical_segment) {
      kernel_->multiply_direct(tile);
      const TileStore<T> store{.is_scaled = true, .alpha = x_.alpha, .beta = x_.beta};
      return kernel_->store(tile.rows, tile.cols, sums, tile.cols, c, x_.ldc, store);
    }
    for (Index p = 0; p < x_.k; p += canonical_segment) {
      tile.k = std::min(canonical_segment, x_.k - p);
      kernel_->multiply_direct(tile);
      apply(Update<T>{p == 0, p + tile.k == x_.k, x_.alpha, x_.beta}, tile.rows, tile.cols, sums, tile.cols, waiting,
            tile.cols, c, x_.ldc);
      tile.a += tile.k * tile.a_step;
      tile.b += tile.k * tile.b_step;
    }
  }

  /// Says whether a transposed B is copied by the micro-kernel's packing, which uses vectors. It needs few columns, so
  /// that the copy is one strip.
  bool is_strip() const { return x_.n <= kernel_->tile_n && x_.k * kernel_->tile_n <= most_near; }
  Index copy_ld() const { return is_strip() ? kernel_->tile_n : x_.n; }

  /// Copies op(B), k rows of n elements with copy_ld() elements from row to row.
  void transpose(const T* b, T* copy) const {
    if (is_strip()) return kernel_->pack_b({b, x_.n, x_.ldb, 1}, 0, 1, 0, x_.k, copy);
    constexpr Index block = 16;
    for (Index first = 0; first < x_.k; first += block)
      for (Index j = 0; j < x_.n; j += block)
        for (Index p = first; p < std::min(first + block, x_.k); ++p)
          for (Index c = j; c < std::min(j + block, x_.n); ++c) copy[p * x_.n + c] = b[c * x_.ldb + p];
  }

  const GemmBatch* group_;
  GemmOperands<T> x_;
  const MicroKernel<T>* kernel_;
  TileSize size_;
  bool asks_ahead_; ///< the next product is prefetched: all of them are larger than L2, and a few of them are not
};

/// The products of a group of any kind, by the kernel that the executor chooses, on one thread.
class OneThreadProducts {
 public:
  OneThreadProducts(const GemmBatch& group, CpuExecutor& cpu, Queue& queue)
      : group_(&group), cpu_(&cpu), queue_(&queue) {}
  static constexpr std::size_t copy_bytes() { return 0; }
  /// Sets `written` once a product is written.
  Status run(Index first, Index last, std::atomic<bool>& written) const {
    for (Index i = first; i < last; ++i) {
      GemmCall call = group_->product(i);
      call.threads = 1;
      if (Status status = cpu_->gemm(*queue_, call); !status.ok()) return status;
      written.store(true, std::memory_order_relaxed);
    }
    return {};
  }

 private:
  const GemmBatch* group_;
  CpuExecutor* cpu_;
  Queue* queue_;
};

using Products = std::variant<SmallProducts<float>, SmallProducts<double>, OneThreadProducts>;

Products products_of(const GemmBatch& group, CpuExecutor& cpu, Queue& queue) {
  if (!is_plain_product(group.call)) return OneThreadProducts(group, cpu, queue);
  if (group.call.type == DType::F32)
    return SmallProducts<float>(group, micro_kernel<float>(cpu.isa()), cpu.capabilities().l2_bytes);
  if (group.call.type == DType::F64)
    return SmallProducts<double>(group, micro_kernel<double>(cpu.isa()), cpu.capabilities().l2_bytes);
  return OneThreadProducts(group, cpu, queue);
}

/// The time to begin a product, in multiply-adds.
constexpr double work_to_begin = 1024;
constexpr double worth_a_task = 1 << 17; ///< multiply-adds of a task

struct Group {
  Products products;
  Index count;      ///< products
  Index at_a_time;  ///< products of a task
  Index first_task; ///< number of the group's first task among the tasks of all groups
};

} // namespace

bool is_shared_out(const GemmBatch& group, int threads) {
  const GemmCall& call = group.call;
  if (call.math != Math::Strict) return false;
  if (threads == 1 && is_16_bit(call.type)) return false; // nothing is gained
  constexpr double small = 160.0 * 160.0 * 160.0;         // small_work in simd/simd.cpp
  return work_of(call) <= small && (threads == 1 || group.count >= 2 * threads || work_of(call) < enough_for_a_thread);
}

Status batched_products(CpuExecutor& cpu, Queue& queue, std::span<const GemmBatch> groups) {
  int most = 0; // threads of the group that asks for the most
  double work = 0;
  for (const GemmBatch& group : groups) {
    most = std::max(most, cpu.threads_for(group.call.threads));
    work += static_cast<double>(group.count) * (work_of(group.call) + work_to_begin);
  }
  const int threads = threads_for(work, most);
  std::vector<Group> all;
  all.reserve(groups.size());
  Index tasks = 0;
  for (const GemmBatch& group : groups) {
    const double most_at_a_time = std::max(1.0, worth_a_task / (work_of(group.call) + work_to_begin));
    const Index share = ceil_div(group.count, 4 * static_cast<Index>(threads)); // so that threads end together
    const Index at_a_time = std::clamp<Index>(share, 1, static_cast<Index>(most_at_a_time));
    all.push_back({products_of(group, cpu, queue), group.count, at_a_time, tasks});
    tasks += ceil_div(group.count, at_a_time);
  }
  std::size_t copy_bytes = 0; // of a thread, for one product at a time; taken now, because nothing is written yet
  for (const Group& group : all)
    copy_bytes = std::max(copy_bytes, std::visit([](const auto& some) { return some.copy_bytes(); }, group.products));
  Scratch copies;
  if (copy_bytes > 0) copies = cpu.scratch().acquire(copy_bytes * static_cast<std::size_t>(threads));
  std::mutex mutex;
  Status failure;
  std::atomic<bool> written = false;
  const auto run = [&](Index task, int slot) -> Status {
    char* const far = static_cast<char*>(copies.data()) + static_cast<std::size_t>(slot) * copy_bytes;
    const auto later = std::upper_bound(all.begin(), all.end(), task,
                                        [](Index number, const Group& group) { return number < group.first_task; });
    const Group& group = *std::prev(later);
    const Index first = (task - group.first_task) * group.at_a_time;
    const Index last = std::min(first + group.at_a_time, group.count);
    if (const auto* any = std::get_if<OneThreadProducts>(&group.products)) return any->run(first, last, written);
    if (const auto* singles = std::get_if<SmallProducts<float>>(&group.products)) singles->run(first, last, far);
    if (const auto* doubles = std::get_if<SmallProducts<double>>(&group.products)) doubles->run(first, last, far);
    written.store(true, std::memory_order_relaxed);
    return {};
  };
  cpu.team().run(tasks, threads, [&](Index task, int slot) {
    Status status = run(task, slot);
    if (status.ok()) return;
    const std::lock_guard lock(mutex);
    if (failure.ok()) failure = std::move(status);
  });
  return written ? detail::partly_written(failure) : failure;
}

} // namespace tessera::cpu
