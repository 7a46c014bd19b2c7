#pragma once

/// What a kernel of the ladder runs by tensor maps: it describes the operands, copies what the copy engine cannot read,
/// and launches the product.

#include <tessera/executor.hpp>

#include "add_split_k.cuh"
#include "cuda/device/memory_rate.hpp"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/tensor_map.hpp"
#include "cuda/gemm/common/copies/copied_operands.hpp"
#include "cuda/gemm/common/copies/stored_operand.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "product.cuh"

namespace tessera::cuda::tma {

inline const char* reject(const GemmKernel&, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major != 9)
    return "warpgroup matrix instructions need compute capability 9.0 (Hopper); use another kernel of this math mode";
  if (std::max({call.m, call.n, call.k}) >= Index{1} << 30) return "m, n or k is 2³⁰ or more; use math mode strict";
  return nullptr;
}

/// An operand of each product of a batch; they lie `pitch` elements apart.
struct Planes {
  Index count = 1, pitch = 0;
};

/// Makes a map of `x` whose boxes have `box_lines` lines of `box_line` bytes.
inline Status encode(DType type, const StoredOperand& x, Index box_lines, CUtensorMap& map, unsigned cache_line,
                     unsigned box_line = TensorShape{}.box_line, const Planes& planes = {}) noexcept {
  const Index pitch = (x.lines > 1 ? x.ld : x.pitch(x.length)) * x.element;
  return encode_tensor_map(
      map, type, x.data,
      {x.length, x.lines, planes.count, pitch, planes.count > 1 ? planes.pitch * x.element : x.lines * pitch,
       static_cast<unsigned>(box_lines), box_line, cache_line});
}

/// Fills in how a kernel reads `x`, or the operands of a batch of which `x` is the first one. One copy brings
/// `box_rows` rows of a K-major operand, or `box_k` k of an MN-major one.
inline Status describe(DType type, const StoredOperand& x, Index box_rows, Index box_k, unsigned cache_line,
                       TensorOperand& out, const Planes& planes = {}) noexcept {
  constexpr unsigned box_line = TensorShape{}.box_line;
  out.major = x.along_k ? Major::K : Major::MN;
  out.count = static_cast<int>(x.along_k ? x.lines : x.length);
  if (const Index last = x.lines % box_rows; x.along_k && last > 0)
    if (Status status = encode(type, x, last, out.edge, cache_line, box_line, planes); !status.ok()) return status;
  return encode(type, x, x.along_k ? box_rows : box_k, out.map, cache_line, box_line, planes);
}

/// Says whether there is a kernel that adds C in accumulators.
constexpr bool can_add_c(Sharing sharing, int tile_n) { return sharing != Sharing::Results || tile_n <= 64; }

template <MatrixUnitType type, int rows, int tile_n, Sharing sharing = Sharing::Nothing>
Status launch(cudaStream_t stream, const TmaProduct& x, const Blocks& blocks, const char* name) noexcept {
  using S = Stages<rows, tile_n, sharing>;
  using Waiting = WaitingSums<type, S>;
  static_assert(!S::stashes ||
                Index{Waiting::chunks} * Waiting::chunk_bytes ==
                    TilingPlan{rows, tile_n, sharing, 1, 1}.stashed_in_memory(2, type == MatrixUnitType::Tf32));
  constexpr Storing adding = can_add_c(sharing, tile_n) ? Storing::AddsC : Storing::Plain;
  const auto kernel = x.slices > 1        ? product<type, rows, tile_n, sharing, Storing::Plain>
                      : x.epilogue.wanted ? product<type, rows, tile_n, sharing, Storing::Epilogue>
                      : x.adds_c          ? product<type, rows, tile_n, sharing, adding>
                                          : product<type, rows, tile_n, sharing, Storing::Plain>;
  if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
  const Launch how{.blocks = blocks.count,
                   .threads = threads,
                   .shared = S::all_bytes,
                   .programmatic = true,
                   .cluster = blocks.together};
  return launch_kernel(stream, how, name, kernel, x);
}

template <MatrixUnitType type>
Status launch(cudaStream_t stream, const TmaProduct& x, const TilingPlan& plan, const Blocks& blocks,
              const char* name) noexcept {
  const auto is = [&](int tile_m, int tile_n, Sharing sharing) {
    return plan.tile_m == tile_m && plan.tile_n == tile_n && plan.sharing == sharing;
  };
  using enum Sharing;
  constexpr bool narrow = type != MatrixUnitType::Tf32;
  if (is(128, 256, B)) return launch<type, 128, 256, B>(stream, x, blocks, name);
  if (is(128, 256, Nothing)) return launch<type, 128, 256>(stream, x, blocks, name);
  if constexpr (narrow) {
    if (is(128, 224, B)) return launch<type, 128, 224, B>(stream, x, blocks, name);
    if (is(128, 192, B)) return launch<type, 128, 192, B>(stream, x, blocks, name);
    if (is(128, 192, Nothing)) return launch<type, 128, 192>(stream, x, blocks, name);
    if (is(128, 128, Results)) return launch<type, 128, 128, Results>(stream, x, blocks, name);
  }
  if (is(128, 128, B)) return launch<type, 128, 128, B>(stream, x, blocks, name);
  if (is(64, 128, B)) return launch<type, 64, 128, B>(stream, x, blocks, name);
  if (is(128, 64, Nothing)) return launch<type, 128, 64>(stream, x, blocks, name);
  if (is(64, 128, Nothing)) return launch<type, 64, 128>(stream, x, blocks, name);
  if (is(64, 32, Nothing)) return launch<type, 64, 32>(stream, x, blocks, name);
  if (is(64, 64, Nothing)) return launch<type, 64, 64>(stream, x, blocks, name);
  if (is(64, 64, Results)) return launch<type, 64, 64, Results>(stream, x, blocks, name);
  return launch<type, 128, 128>(stream, x, blocks, name);
}

/// Says where results go: to C, or to the sums of slices, in the places that they would have in C.
inline Output results_of(const GemmCall& call, float* sums, Index sums_pitch) noexcept {
  const bool sliced = sums != nullptr;
  const DType type = sliced ? DType::F32 : call.result;
  const auto to = sliced ? ScaledResult<float, void>{.c = sums, .ldc = sums_pitch, .alpha = 1, .beta = 0}
                         : ScaledResult<float, void>::of(call);
  return {.c = to.c,
          .ldc = to.ldc,
          .plane = call.m * sums_pitch,
          .m = static_cast<int>(call.m),
          .n = static_cast<int>(sliced ? sums_pitch : call.n),
          .alpha = to.alpha,
          .beta = to.beta,
          .narrow = type != DType::F32,
          .vectors = reinterpret_cast<std::uintptr_t>(to.c) % 16 == 0 &&
                     (call.m == 1 || to.ldc * static_cast<Index>(size_of(type)) % 16 == 0)};
}

/// Says whether C is added while the results are in accumulators. That takes registers: where there are two sets of
/// sums, or long products that a spilled register holds up, C is added as results are stored (docs/lab/cuda_gemm.md).
inline bool adds_c_in_accumulators(MatrixUnitType type, const TmaProduct& x, const TilingPlan& plan,
                                   const ProductSize& size) noexcept {
  if (x.to.beta == 0 || plan.slices > 1 || x.epilogue.wanted) return false;
  if (!can_add_c(plan.sharing, plan.tile_n)) return false;
  if (type == MatrixUnitType::Tf32) return x.swapped ? size.blocks <= 40 : !x.to.vectors;
  return plan.tile_n != 192 || size.segments() == 1;
}

/// Makes the map of C for the copy engine. `transposed`: its boxes hold results of Cᵀ.
inline Status describe_results(const GemmCall& call, bool transposed, CUtensorMap& map,
                               const Planes& planes = {}) noexcept {
  const StoredOperand c{call.c, call.m, call.n, call.ldc, true, static_cast<int>(size_of(call.result))};
  constexpr unsigned cache_line = TensorShape{}.cache_line;
  return transposed ? encode(call.result, c, transposed_box_rows, map, cache_line, transposed_box_line)
                    : encode(call.result, c, box_rows, map, cache_line, TensorShape{}.box_line, planes);
}

constexpr Index read_once = 256; ///< rows or columns of C up to which the large operand is read once or twice

/// The operands in the places that the kernel has for them: op(A) and op(B) or, if `swapped`, op(B)ᵀ and op(A)ᵀ.
struct OperandRoles {
  StoredOperand first, second;
  bool swapped;
  TilingPlan plan;
  unsigned cache_line; ///< see TensorShape
};

/// Says whether memory is as fast as in_sliced_rounds() supposes, and the larger operand lies there and not in the L2
/// cache.
inline bool waits_for_fast_memory(const GemmCall& call, Index element, const Capabilities& machine) noexcept {
  constexpr double fast = 4.0e12; // bytes a second
  return static_cast<std::size_t>(std::max(call.m, call.n) * call.k * element) >= machine.l2_bytes &&
         memory_bytes_per_second(machine.device_index) >= fast;
}

inline OperandRoles roles_of(const GemmCall& call, MatrixUnitType type, const Capabilities& machine) noexcept {
  const Index multiprocessors = std::max(2, machine.multiprocessors);
  const bool tf32 = type == MatrixUnitType::Tf32;
  OperandRoles roles{
      StoredOperand::a_of(call, bytes_of(type)), StoredOperand::b_of(call, bytes_of(type)), false, {}, 128};
  ProductSize size = ProductSize::of(call.m, call.n, call.k, bytes_of(type));
  size.split_a = roles.first.splits_lines();
  size.split_b = roles.second.splits_lines();
  if (tf32) {
    roles.swapped = is_swapped_in_tf32(call);
    roles.plan = choose_plan(roles.swapped ? size.transposed() : size, multiprocessors, Tiles::Tf32);
  } else {
    OrientedPlan chosen = choose_oriented_plan(size, multiprocessors);
    if (waits_for_fast_memory(call, bytes_of(type), machine)) chosen = in_sliced_rounds(chosen, size, multiprocessors);
    roles.swapped = chosen.swapped;
    roles.plan = chosen.plan;
  }
  // Memory brings an operand that the product reads once or twice somewhat faster by whole pairs of lines.
  if (std::min(call.m, call.n) <= read_once) roles.cache_line = 256;
  if (roles.swapped) std::swap(roles.first, roles.second);
  roles.second.transposed = tf32 && !roles.second.along_k;
  return roles;
}

/// Runs a kernel's product.
template <MatrixUnitType type>
Status run(const GemmKernel& kernel, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  constexpr int block_k = block_k_of(type);
  const cudaStream_t stream = stream_of(queue);
  const Index multiprocessors = std::max(2, executor.capabilities().multiprocessors);
  auto [first, second, swapped, plan, cache_line] = roles_of(call, type, executor.capabilities());
  const Index rows = swapped ? call.n : call.m, cols = swapped ? call.m : call.n;
  const ProductSize size = ProductSize::of(rows, cols, call.k, bytes_of(type));
  const Index tiles_m = ceil_div<Index>(rows, plan.cluster_rows()), tiles_n = ceil_div<Index>(cols, plan.tile_n);
  const Blocks blocks = blocks_of(plan, size, multiprocessors);
  const Index sums_pitch = ceil_div<Index>(call.n, 4) * 4;
  ScratchLayout layout;
  const std::size_t first_at = layout.add(first.copy_bytes());
  const std::size_t second_at = layout.add(second.copy_bytes());
  const std::size_t sums_at = layout.add(plan.slices > 1 ? plan.slices * call.m * sums_pitch * 4 : 0);
  const std::size_t stash_at =
      layout.add(blocks.count * plan.stashed_in_memory(size.segments(), type == MatrixUnitType::Tf32));
  Scratch scratch;
  if (layout.size() > 0)
    if (Status status = scratch.allocate(executor, queue, layout.size()); !status.ok()) return status;
  char* const memory = scratch.as<char>();
  if (Status status = copy_operands(
          stream, {first.become_copy(memory + first_at), second.become_copy(memory + second_at)}, kernel.name);
      !status.ok())
    return status;

  float* const sums = plan.slices > 1 ? reinterpret_cast<float*>(memory + sums_at) : nullptr;
  TmaProduct x{.a = {},
               .b = {},
               .c = {},
               .in_boxes = false,
               .swapped = swapped,
               .adds_c = false,
               .to = results_of(call, sums, sums_pitch),
               .tiles_m = static_cast<int>(tiles_m),
               .tiles_n = static_cast<int>(tiles_n),
               .slices = plan.slices,
               .k_parts = plan.k_parts,
               .blocks = static_cast<int>(size.blocks),
               .segment_blocks = static_cast<int>(size.segment_blocks),
               .stash = memory + stash_at,
               .epilogue = EpilogueStore<float>(call)};
  // Describes what one copy fetches, for the whole cluster where blocks share B: columns and k.
  const int own_columns = plan.own_columns();
  const int own_k = plan.sharing == Sharing::B && own_columns % block_k != 0 ? block_k / cluster : block_k;
  if (Status status = describe(call.type, first, plan.tile_m, block_k, cache_line, x.a); !status.ok()) return status;
  if (Status status = describe(call.type, second, own_columns, own_k, cache_line, x.b); !status.ok()) return status;
  if (adds_c_in_accumulators(type, x, plan, size)) {
    x.adds_c = true; // that kernel has the factors from the epilogue
    x.to.alpha = 1;
    x.to.beta = 0;
  }
  x.in_boxes = plan.sends_boxes() && plan.slices == 1 && x.to.vectors && x.to.beta == 0 && !x.epilogue.wanted;
  if (x.in_boxes)
    if (Status status = describe_results(call, swapped, x.c); !status.ok()) return status;
  if (Status status = launch<type>(stream, x, plan, blocks, kernel.name); !status.ok()) return status;
  if (sums == nullptr) return {};
  return launch_add_slices(stream, {sums, plan.slices, static_cast<int>(sums_pitch), x.epilogue}, kernel.name);
}

} // namespace tessera::cuda::tma
