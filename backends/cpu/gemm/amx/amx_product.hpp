#pragma once

/// Products on AMX's tiles, whatever the operands are packed as.
///
/// As in Goto and van de Geijn's product, a block of one operand is packed into L2 by the task that uses it; strips of
/// the other one, packed whole before, pass by it, a run of k of each kept in the first cache. Four tile instructions
/// take 64 cycles at least, and the four tiles that they want 90 from L2: so one operand has to be nearer than that,
/// and the other one is loaded past the first cache. From the third cache they take 320: the next strip is asked for
/// before.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "amx_tiles.hpp"
#include "cpu/executor.hpp"
#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/row_loops.hpp"
#include "cpu/memory/scratch.hpp"

namespace tessera::cpu::amx {

/// What a rung does on the tiles.
struct Method {
  int parts;             ///< of an element
  Index run_k;           ///< k that are multiplied at a time: what stays in the first cache, or has a sum of its own
  double worth_a_thread; ///< multiply-adds
  Pack pack;
  const Squares& multiply;
  /// Whether the tiles have the least magnitudes that were packed: if not, another rung does the product.
  bool (*fits)(unsigned least_a, unsigned least_b);
};

/// Stores sums of C's part from (i, j) on.
using Store = void (*)(const GemmCall& call, Index i, Index j, Index rows, Index cols, const float* sums, Index ld);

class Product {
 public:
  /// `a` and `b`: the call's operands.
  Product(CpuExecutor& cpu, const GemmCall& call, const Method& method, Store store);

  /// False if another rung has to do it. Then some of C may be written, unless beta is not 0.
  bool run();
  bool has_stored() const { return stored_.load(std::memory_order_relaxed); }

 private:
  struct PackedOperand {
    Operand x;
    Index strips;
    bool of_b;
  };
  struct Task {
    Index first, strips; ///< of the operand that it packs
    Index from, to;      ///< those that pass
    std::uint16_t* packed;
    float* sums;
  };

  /// Some strips and chunks of an operand.
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
  PackedOperand streamed_, resident_; ///< what is packed before, and what each task packs for itself
  Index block_chunks_ = 0, block_strips_ = 0, streamed_strips_per_task_ = 0, sums_size_ = 0; ///< of a task
  Scratch scratch_;
  std::uint16_t* packed_ = nullptr; ///< streamed_: [block of k][strip][chunk][part][tile]
  std::uint16_t* blocks_ = nullptr; ///< a thread each: [strip][chunk][part][tile]
  float* sums_ = nullptr; ///< a thread each: of one strip, or, if k has several blocks, of all that pass the task's
  std::atomic<unsigned> least_[2] = {all_zero, all_zero}; ///< of A, of B
  std::atomic<bool> stored_ = false;
};

} // namespace tessera::cpu::amx
