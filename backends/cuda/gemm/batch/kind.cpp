/// Chooses kernels for batches.

#include "kind.hpp"

#include <algorithm>
#include <limits>

#include <tessera/half.hpp>

#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/wgmma_tma/batch.hpp"

namespace tessera::cuda {

BatchTile tile_of(Kind kind, DType type) {
  if (kind == Kind::Small) return small_tile<float>;
  if (kind == Kind::Quarter) return quarter_tile<float>;
  if (kind == Kind::Middle || kind == Kind::Dmma || kind == Kind::Narrow || kind == Kind::Maps)
    return middle_tile<float>;
  return type == DType::F64 ? wide_tile<double> : wide_tile<float>;
}

Index tiles_of(const GemmCall& call, const BatchTile& tile) {
  return ceil_div(call.m, tile.m) * ceil_div(call.n, tile.n);
}

namespace {

/// Is it a product of 16-bit operands in the mode of the matrix units for them?
bool is_narrow(const GemmCall& call) {
  return (call.type == DType::BF16 && call.math == Math::Bf16) || (call.type == DType::F16 && call.math == Math::Fp16);
}

bool is_tf32(const GemmCall& call) {
  return call.type == DType::F32 && call.math == Math::Tf32 && call.result == DType::F32;
}

/// Does the GPU have matrix units for the product, in a mode whose batches have a kernel?
bool is_on_matrix_units(const GemmCall& call, int compute_major) {
  return compute_major >= 8 && (is_narrow(call) || is_tf32(call));
}

constexpr std::size_t few_groups = 2; ///< of a batch: each of them may have a launch of its own
/// The multiplications and additions that take as long as a launch, by kernels that share theirs.
constexpr double worth_a_launch = 512.0 * 512 * 512;

/// Returns m·n·k.
double work_of(const GemmCall& call) {
  return static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
}

/// Can tensor maps bring a group's tiles, in a launch of its own? `groups`: of the whole batch.
bool takes_maps(const GemmBatch& group, std::size_t groups, const Capabilities& machine) {
  if (machine.compute_major != 9 || !is_narrow(group.call) || !tma::takes_batch(group)) return false;
  constexpr Index most = std::numeric_limits<int>::max();
  if (group.count == 1 || group.count > most / tiles_of(group.call, tile_of(Kind::Maps, group.call.type))) return false;
  return groups <= few_groups || static_cast<double>(group.count) * work_of(group.call) >= worth_a_launch;
}

constexpr double cycles_of_a_launch = 5000;

/// Are the products of such a group done sooner on the ladder, one after the other?
bool are_sooner_alone(const GemmBatch& group, const Capabilities& machine) {
  const auto element = static_cast<Index>(size_of(group.call.type));
  const double alone = std::max(tma::cycles_of(group.call, element, machine.multiprocessors), cycles_of_a_launch);
  const double together = tma::choose_batch_plan(group, machine.multiprocessors).cycles;
  return static_cast<double>(group.count) * alone < together - cycles_of_a_launch;
}

/// Are few products of a long k in tf32 done sooner on the ladder? The kernel of batches does not cut k, and a tile
/// takes so many cycles for each; a product alone takes so many as it is rarely faster than.
bool are_sooner_alone_in_tf32(const GemmBatch& group) {
  constexpr double cycles_of_a_k = 33, cycles_of_a_product = 7500;
  const double together = cycles_of_a_launch + cycles_of_a_k * static_cast<double>(group.call.k);
  return static_cast<double>(group.count) * cycles_of_a_product < together;
}

} // namespace

// Hopper's matrix units multiply f64, but memory decides the time of products that are smaller than a wide tile.
Kind kind_of(const GemmBatch& group, std::size_t groups, const Capabilities& machine) {
  const GemmCall& call = group.call;
  const bool hopper = machine.compute_major == 9;
  constexpr Index most = Index{1} << 24; // numbers of tiles fit 32 bits
  const bool narrow = is_on_matrix_units(call, machine.compute_major);
  if ((call.math != Math::Strict && !narrow) || (call.type == DType::F32 && call.result != DType::F32) ||
      std::max({call.m, call.n, call.k}) > most)
    return Kind::Alone;
  // Hopper's matrix units take a product of 1024³ alone in the time of its launch, or of 768³ in tf32.
  const double side = is_narrow(call) ? 1024.0 : narrow ? 768.0 : 512.0, fills_device = side * side * side;
  if (takes_maps(group, groups, machine)) return are_sooner_alone(group, machine) ? Kind::Alone : Kind::Maps;
  if (work_of(call) >= fills_device || (is_tf32(call) && are_sooner_alone_in_tf32(group))) return Kind::Alone;
  Kind kind = Kind::Small;
  const Index smaller = std::min(call.m, call.n);
  if (narrow) {
    kind = Kind::Narrow;
  } else if (!is_16_bit(call.type) && smaller > 32) {
    const BatchTile wide = tile_of(Kind::Wide, call.type);
    const bool on_matrix_units = call.type == DType::F64 && hopper;
    kind = call.m < wide.m || call.n < wide.n ? Kind::Middle : on_matrix_units ? Kind::Dmma : Kind::Wide;
  } else if (smaller > 16 && (call.type == DType::F32 || (call.type == DType::F64 && hopper))) {
    kind = Kind::Quarter;
  }
  return tiles_of(call, tile_of(kind, call.type)) > most ? Kind::Alone : kind;
}

Kind kind_by_ends(const GemmBatch& group, int compute_major) {
  const GemmCall& call = group.call;
  const bool narrow = is_on_matrix_units(call, compute_major);
  const bool scales = call.k == 0 || call.alpha == 0;
  if ((call.math != Math::Strict && !narrow) || (call.type == DType::F32 && call.result != DType::F32))
    return Kind::Alone;
  if (scales) return Kind::Small;
  if (narrow) return compute_major == 9 && tma::takes_batch(group) ? Kind::Maps : Kind::Narrow;
  return is_16_bit(call.type) || call.m <= 16 * group.count ? Kind::Small : Kind::Middle;
}

} // namespace tessera::cuda
