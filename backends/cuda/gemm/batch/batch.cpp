/// Batches: one launch for all products that one kernel takes, by tiles of C of one size.
///
/// Other products run one after the other on the ladder: emulated modes, f32 in the modes Bf16 and Fp16, few products
/// of a long k in Tf32, and products so large that each fills the device, for which the ladder has better kernels.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/detail/matrix_unit_segments.hpp>
#include <tessera/half.hpp>

#include "cuda/executor.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/scaled_result.hpp"
#include "cuda/gemm/common/wgmma_tma/batch.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "groups.hpp"
#include "kind.hpp"
#include "rows_after_last.hpp"
#include "table.hpp"

namespace tessera::cuda {
namespace {

/// The products of one launch: their kind, the type of A and B, and the type of C.
struct BatchLaunch {
  Kind kind;
  DType type, result;
};

/// The groups of one launch.
using Chosen = std::vector<const GemmBatch*>;

/// The size of the table in device memory that a launch needs besides its arguments: groups, if there are many, and
/// then the pointers to operands.
template <class T, class R>
struct TableLayout {
  std::size_t groups = 0;   ///< bytes of the groups; 0: they fit the arguments
  std::size_t pointers = 0; ///< pointers to each operand, of all groups that have pointers

  explicit TableLayout(const Chosen& chosen) {
    if (chosen.size() > BatchGroups<T, R>::most_here) groups = chosen.size() * sizeof(BatchGroup<T, R>);
    for (const GemmBatch* group : chosen)
      if (group->has_pointers()) pointers += static_cast<std::size_t>(group->count);
  }
  std::size_t bytes() const { return groups + 3 * pointers * sizeof(void*); }
};

template <class T, class R>
BatchGroup<T, R> group_for_device(const GemmBatch& group, const BatchTile& tile, Index first) {
  const GemmCall& call = group.call;
  const auto to = ScaledResult<Scalar<T>, R>::of(call);
  return {.m = call.m,
          .n = call.n,
          .k = call.k,
          .segment = detail::matrix_unit_segment_length(call.k),
          .a = static_cast<const T*>(call.a),
          .b = static_cast<const T*>(call.b),
          .c = to.c,
          .lda = call.lda,
          .ldb = call.ldb,
          .ldc = to.ldc,
          .stride_a = group.stride_a,
          .stride_b = group.stride_b,
          .stride_c = group.stride_c,
          .all_a = nullptr,
          .all_b = nullptr,
          .all_c = nullptr,
          .alpha = to.alpha,
          .beta = to.beta,
          .transpose_a = call.op_a == Op::Transpose,
          .transpose_b = call.op_b == Op::Transpose,
          .has_epilogue = !call.epilogue.empty(),
          .epilogue = call.epilogue,
          .first = static_cast<unsigned>(first),
          .tiles = static_cast<unsigned>(tiles_of(call, tile)),
          .across = static_cast<unsigned>(ceil_div(call.n, tile.n))};
}

template <class T, class R>
Status launch(Kind kind, cudaStream_t stream, const BatchGroups<T, R>& groups) {
  if constexpr (std::is_same_v<T, double>) {
    if (kind == Kind::Quarter) return launch_quarter_batch_dmma(stream, groups);
    if (kind == Kind::Dmma) return launch_middle_batch_dmma(stream, groups);
  }
  if constexpr (std::is_same_v<T, float>) {
    if (kind == Kind::Quarter) return launch_quarter_batch<T>(stream, groups);
    if (kind == Kind::Narrow) return launch_tf32_batch(stream, groups);
  }
  if constexpr (std::is_same_v<T, R> && !is_16_bit(dtype_of<T>)) {
    if (kind == Kind::Middle) return launch_middle_batch<T>(stream, groups);
    if (kind == Kind::Wide) return launch_wide_batch<T>(stream, groups);
  }
  if constexpr (is_16_bit(dtype_of<T>))
    if (kind == Kind::Narrow) return launch_mma_batch<T, R>(stream, groups);
  return launch_small_batch<T, R>(stream, groups);
}

template <class T, class R>
Status launch(Kind kind, Executor& executor, PinnedTables& tables, Queue& queue, const Chosen& chosen) {
  using Group = BatchGroup<T, R>;
  const cudaStream_t stream = stream_of(queue);
  const TableLayout<T, R> table(chosen);
  Scratch on_device;
  PinnedTables::Block block;
  if (table.bytes() > 0) {
    if (Status status = on_device.allocate(executor, queue, table.bytes()); !status.ok()) return status;
    if (Status status = tables.take(stream, table.bytes(), block); !status.ok()) return status;
  }
  char* const host = static_cast<char*>(block.data);
  char* const device = on_device.as<char>();
  BatchGroups<T, R> groups{};
  Group* const written = table.groups > 0 ? reinterpret_cast<Group*>(host) : groups.here;
  std::size_t at = table.groups; // where the next pointers go
  const auto put = [&](const void* pointers, Index count) {
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(void*);
    std::memcpy(host + at, pointers, bytes);
    at += bytes;
    return device + at - bytes;
  };
  Index tiles = 0;
  for (std::size_t g = 0; g < chosen.size(); ++g) {
    const GemmBatch& group = *chosen[g];
    Group one = group_for_device<T, R>(group, tile_of(kind, dtype_of<T>), tiles);
    if (group.has_pointers()) {
      one.all_a = reinterpret_cast<const T* const*>(put(group.a, group.count));
      one.all_b = reinterpret_cast<const T* const*>(put(group.b, group.count));
      one.all_c = reinterpret_cast<R* const*>(put(group.c, group.count));
    }
    written[g] = one;
    groups.any_epilogue |= one.has_epilogue;
    tiles += static_cast<Index>(one.tiles) * group.count;
  }
  groups.count = static_cast<unsigned>(chosen.size());
  groups.tiles = static_cast<unsigned>(tiles);
  if (table.groups > 0) groups.more = reinterpret_cast<const Group*>(device);
  if (block.data != nullptr)
    if (Status status = tables.send(stream, block, at, device); !status.ok()) return status;
  return launch<T, R>(kind, stream, groups);
}

/// Calls f<T, R>() for the types of a launch's operands and results.
template <class F>
Status with_types(const BatchLaunch& x, F f) {
  const bool wider = x.result != x.type;
  switch (x.type) {
    case DType::F64:
      return f.template operator()<double, double>();
    case DType::F16:
      return wider ? f.template operator()<f16, float>() : f.template operator()<f16, f16>();
    case DType::BF16:
      return wider ? f.template operator()<bf16, float>() : f.template operator()<bf16, bf16>();
    default:
      return f.template operator()<float, float>();
  }
}

Status launch(const BatchLaunch& x, Executor& executor, PinnedTables& tables, Queue& queue, const Chosen& chosen) {
  return with_types(x, [&]<class T, class R>() { return launch<T, R>(x.kind, executor, tables, queue, chosen); });
}

constexpr std::array<BatchLaunch, 18> launches{{{Kind::Small, DType::F32, DType::F32},
                                                {Kind::Narrow, DType::F32, DType::F32},
                                                {Kind::Quarter, DType::F32, DType::F32},
                                                {Kind::Middle, DType::F32, DType::F32},
                                                {Kind::Wide, DType::F32, DType::F32},
                                                {Kind::Small, DType::F64, DType::F64},
                                                {Kind::Quarter, DType::F64, DType::F64},
                                                {Kind::Middle, DType::F64, DType::F64},
                                                {Kind::Dmma, DType::F64, DType::F64},
                                                {Kind::Wide, DType::F64, DType::F64},
                                                {Kind::Small, DType::F16, DType::F16},
                                                {Kind::Small, DType::F16, DType::F32},
                                                {Kind::Small, DType::BF16, DType::BF16},
                                                {Kind::Small, DType::BF16, DType::F32},
                                                {Kind::Narrow, DType::F16, DType::F16},
                                                {Kind::Narrow, DType::F16, DType::F32},
                                                {Kind::Narrow, DType::BF16, DType::BF16},
                                                {Kind::Narrow, DType::BF16, DType::F32}}};

/// Runs a group by tensor maps.
Status run_by_maps(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept {
  const auto run = group.call.type == DType::BF16 ? tma::run_batch_bf16 : tma::run_batch_fp16;
  return run(stream, group, multiprocessors);
}

/// Returns how many tiles such a group has at most: all products but one may have a tile that is hardly filled.
Index most_tiles(const GemmBatch& group, const BatchTile& tile) {
  return (group.call.m / tile.m + group.count) * ceil_div(group.call.n, tile.n);
}

void log_launch(const BatchLaunch& x, const Chosen& chosen) {
  if (!log_dispatch()) return;
  Index count = 0;
  for (const GemmBatch* group : chosen) count += group->count;
  log_line("gemm batch " + std::string(to_string(x.type)) + ": " + std::to_string(count) + " products in " +
           std::to_string(chosen.size()) + " groups: cuda/" +
           (x.kind == Kind::Small     ? "batch_small"
            : x.kind == Kind::Quarter ? "batch tiles, 32×32,"
            : x.kind == Kind::Middle  ? "batch tiles, 64×64,"
            : x.kind == Kind::Dmma    ? "batch_dmma, 64×64,"
            : x.kind == Kind::Narrow  ? (x.type == DType::F32 ? "batch_tf32, 64×64," : "batch_mma, 64×64,")
            : x.kind == Kind::Maps    ? "batch by tensor maps"
                                      : "batch tiles, wide,") +
           " runs");
}

} // namespace

Status CudaExecutor::run_gemm_batch(Queue& queue, std::span<const GemmBatch> groups) noexcept try {
  std::vector<GemmBatch> alone;
  std::vector<Kind> kinds;
  std::array<Index, launches.size()> tiles{};
  // Returns which launch takes a group: none of the list if it runs alone or by tensor maps.
  const auto place = [&](const GemmBatch& group, Kind kind) {
    return static_cast<std::size_t>(std::find_if(launches.begin(), launches.end(),
                                                 [&](const BatchLaunch& x) {
                                                   return x.kind == kind && x.type == group.call.type &&
                                                          x.result == group.call.result;
                                                 }) -
                                    launches.begin());
  };
  for (const GemmBatch& group : groups) {
    Kind kind = kind_of(group, groups.size(), capabilities_);
    if (kind == Kind::Maps) {
      log_launch({kind, group.call.type, group.call.result}, {&group});
      if (Status status = run_by_maps(stream_of(queue), group, capabilities_.multiprocessors); !status.ok())
        return status;
    } else if (kind != Kind::Alone) { // a grid has at most 2³¹ − 1 blocks
      Index& sum = tiles[place(group, kind)];
      const Index more = tiles_of(group.call, tile_of(kind, group.call.type));
      constexpr Index most = std::numeric_limits<int>::max();
      if (group.count > (most - sum) / more)
        kind = Kind::Alone;
      else
        sum += more * group.count;
    }
    if (kind == Kind::Alone) alone.push_back(group);
    kinds.push_back(kind);
  }
  if (!alone.empty())
    if (Status status = gemm_one_by_one(queue, alone); !status.ok()) return status;
  Chosen chosen;
  for (std::size_t l = 0; l < launches.size(); ++l) {
    if (tiles[l] == 0) continue;
    chosen.clear();
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (place(groups[g], kinds[g]) == l) chosen.push_back(&groups[g]);
    log_launch(launches[l], chosen);
    if (Status status = launch(launches[l], *this, tables_, queue, chosen); !status.ok()) return status;
  }
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status CudaExecutor::takes_row_ends(const GemmBatch& group) const {
  const Kind kind = kind_by_ends(group, capabilities_.compute_major);
  if (kind == Kind::Alone)
    return Status::failure(
        StatusCode::Rejected,
        "gemm batch: rows whose ends are in a device's memory are taken in modes strict and tf32, and in modes "
        "bf16 and fp16 of 16-bit operands; " +
            std::string(to_string(group.call.type)) + " in mode " + std::string(to_string(group.call.math)) +
            " needs a group for each product");
  constexpr Index most = std::numeric_limits<int>::max();
  if (std::max({group.call.m, group.call.n, group.call.k, group.count}) > most ||
      most_tiles(group, tile_of(kind, group.call.type)) > most)
    return Status::failure(StatusCode::Rejected,
                           "gemm batch: " + std::to_string(group.call.m) + "×" + std::to_string(group.call.n) +
                               " results of " + std::to_string(group.count) +
                               " products are too many for one launch; make a group for each product");
  return {};
}

Status CudaExecutor::run_row_ends(Queue& queue, const GemmBatch& given) noexcept try {
  GemmBatch group = given;
  if (group.call.alpha == 0) group.call.k = 0; // A and B are not read
  const cudaStream_t stream = stream_of(queue);
  const Index multiprocessors = capabilities_.multiprocessors;
  const Kind kind = kind_by_ends(given, capabilities_.compute_major);
  const BatchTile tile = tile_of(kind, group.call.type);
  const auto run = [&]<class T, class R>() {
    BatchGroups<T, R> groups{};
    groups.here[0] = group_for_device<T, R>(group, tile, 0);
    groups.count = 1;
    groups.tiles = static_cast<unsigned>(most_tiles(group, tile));
    groups.ends = group.ends;
    groups.products = static_cast<int>(group.count);
    return launch<T, R>(kind, stream, groups);
  };
  const BatchLaunch launch_of{kind, group.call.type, group.call.result};
  log_launch(launch_of, {&group});
  Status status = kind == Kind::Maps ? run_by_maps(stream, group, multiprocessors) : with_types(launch_of, run);
  return status.ok() ? scale_rows_after_last(stream, group, multiprocessors) : status;
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
