#pragma once

/// Products on AMX's tiles, for any way in which the elements are packed.
///
/// As in Goto and van de Geijn's product, the task that uses a block of one operand, the resident one, packs it into
/// L2. The other operand, the streamed one, is packed whole before. Its strips are multiplied by the block one after
/// the other, and a run of k of the current strip stays in L1. Four tile instructions take less time than their four
/// tiles take to come from L2 (docs/lab/cpu_gemm.md). So one operand has to be in L1, and the other one is loaded
/// past L1. Tiles take still longer from L3, so the next strip is prefetched.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "amx_tiles.hpp"
#include "cpu/executor.hpp"
#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/memory/scratch.hpp"

namespace tessera::cpu::amx {

/// Describes how a rung uses the tiles.
struct Method {
  int parts;             ///< bf16 parts of an element
  Index run_k;           ///< steps of k in one call of a kernel: they fit L1, and amx_bf16x6 adds their sum in f32
  double worth_a_thread; ///< multiply-adds that make one more thread worth waking
  Pack pack;
  const Squares& multiply;
  /// Says whether the tiles can hold products of operands with these results of `pack`. If not, another rung computes
  /// the call.
  bool (*fits)(unsigned least_a, unsigned least_b);
};

/// A function that stores results: it applies alpha, beta and the epilogue to rows×cols sums, `ld` apart, and writes C
/// from (i, j) on.
using Store = void (*)(const GemmCall& call, Index i, Index j, Index rows, Index cols, const float* sums, Index ld);

class AmxProduct {
 public:
  /// Chooses blocks and takes scratch memory; throws std::bad_alloc if there is none.
  AmxProduct(CpuExecutor& cpu, const GemmCall& call, const Method& method, Store store);

  /// Computes the product. Returns false if another rung has to compute it. Parts of C may be written then if beta is
  /// 0.
  bool run();
  /// Says whether any element of C was written.
  bool has_stored() const { return stored_.load(std::memory_order_relaxed); }

 private:
  struct PackedOperand {
    Operand x;
    Index strips;
    bool of_b;
  };
  struct Task {
    Index first, strips; ///< strips of the resident operand that the task packs
    Index from, to;      ///< strips of the streamed operand
    std::uint16_t* packed;
    float* sums;
  };

  /// A range of strips and chunks of an operand.
  struct Block {
    const PackedOperand& side;
    Index first_strip, strips, first_chunk, chunks;
    Index lines() const { return side.x.along_k ? strips : chunks; }
  };

  void choose_blocks(const Capabilities& machine);
  void carve(Carver& carver);
  void pack_streamed();
  void scan_resident();
  void pack_line(const Block& block, Index line, std::uint16_t* to);
  void pack_block(const Block& block, std::uint16_t* to);
  void compute(const Task& task);
  void multiply_strip(const Task& task, Index strip, Index first_chunk, Index chunks);
  void store_strip(const Task& task, Index strip);

  Index strip_size(Index chunks) const { return chunks * method_.parts * part_size; }
  std::uint16_t* streamed_strip(Index strip, Index first_chunk, Index chunks) const;
  float* sums_of(const Task& task, Index strip) const {
    return task.sums + (chunks_ > block_chunks_ ? (strip - task.from) * task.strips * side * side : 0);
  }
  bool fits() const { return method_.fits(least_[0], least_[1]); }

  const GemmCall& call_;
  const Method& method_;
  Store store_;
  Team& team_;
  int threads_;
  Index chunks_;
  PackedOperand streamed_, resident_; ///< packed before; packed by each task, block by block
  Index block_chunks_ = 0, block_strips_ = 0, streamed_strips_per_task_ = 0, sums_size_ = 0; ///< sizes of a task
  Scratch scratch_;
  std::uint16_t* packed_ = nullptr; ///< streamed_: [block of k][strip][chunk][part][tile]
  std::uint16_t* blocks_ = nullptr; ///< for each thread a block of resident_: [strip][chunk][part][tile]
  /// For each thread the sums of one streamed strip, or, if k has several blocks, of all streamed strips of a task.
  float* sums_ = nullptr;
  std::atomic<unsigned> least_[2] = {all_zero, all_zero}; ///< the least results of `pack` for A and for B
  std::atomic<bool> stored_ = false;
};

} // namespace tessera::cpu::amx
