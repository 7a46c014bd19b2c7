#pragma once

/// The ring of stages as a consumer warpgroup of the packed product sees it: waits for a stage, starts its products,
/// reads the factors of its lines and releases it.
///
/// All places are addresses in shared memory, kept in registers. From pointers, the compiler would compute the block's
/// window of shared memory, and whole descriptors, anew for each stage, which takes longer than starting the products.

#include "cuda/gemm/common/wgmma_pipeline.cuh"

namespace tessera::cuda::wgmma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// A stage of the ring.
struct Stage {
  int index;
  unsigned vectors; ///< of 16 bytes from the first stage on
};

template <class R, class S>
class StageReader {
 public:
  __device__ StageReader(const char* shared, Barriers<S::count>& barriers)
      : stages_(shared_address(shared)),
        full_(shared_address(&barriers.full[0])),
        a_(stages_ + (threadIdx.x / 128 - 1) * 64 * S::line_bytes) {
    const int thread = static_cast<int>(threadIdx.x) - 128, lane = thread % 32;
    row_factors_ = stages_ + R::terms * S::a_term_bytes + (thread / 32 * 16 + lane / 4) * 4;
    column_factors_ = stages_ + S::a_bytes + R::terms * S::b_term_bytes + lane % 4 * 8;
    releases_ = lane < cluster;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(empty_)
                 : "r"(shared_address(&barriers.empty[0])), "r"(releases_ != 0 ? lane : 0));
    asm volatile(""
                 : "+r"(stages_), "+r"(full_), "+r"(a_.low), "+r"(empty_), "+r"(row_factors_), "+r"(column_factors_));
  }

  /// Waits for the next stage, and starts its products, smallest terms first, in `groups` groups.
  template <int groups>
  __device__ void multiply_next(float (&sum)[S::tile_n / 2], int& accumulate) {
    wait_at(full_ + ring_.stage * 8, ring_.phase);
    begin_products();
    const Descriptor b(stages_ + S::a_bytes);
#pragma unroll
    for (int k = 0; k < R::block_k; k += depth_of(R::type)) {
#pragma unroll
      for (int order = R::terms - 1; order >= 0; --order)
#pragma unroll
        for (int i = order; i >= 0; --i) {
          const unsigned step = k / depth_of(R::type) * 256;
          multiply<R::type, S::tile_n>(sum, a_.at(next_, i * S::a_term_bytes + step),
                                       b.at(next_, (order - i) * S::b_term_bytes + step), accumulate);
          accumulate = 1;
        }
      if ((k + depth_of(R::type)) % (R::block_k / groups) == 0) commit_products();
    }
    last_ = {ring_.stage, next_};
    ring_.advance();
    next_ = ring_.stage == 0 ? 0 : next_ + S::bytes / 16;
  }

  /// Returns the stage whose products were started last.
  __device__ Stage last() const { return last_; }
  /// Returns the factor of the thread's first row, or of the one `down` rows below it.
  __device__ float row_factor(Stage stage, int down) const {
    return shared_float(row_factors_ + stage.vectors * 16 + down * 4);
  }
  /// Returns the factors of the two columns that results e to e + 3 lie in.
  __device__ float2 column_factors(Stage stage, int e) const {
    return shared_floats(column_factors_ + stage.vectors * 16 + e * 8);
  }
  /// Tells the producers of the cluster that a warp has read the stage. There is no branch, in which the compiler would
  /// wait for products.
  __device__ void release(Stage stage) const {
    asm volatile(
        "{ .reg .pred releases; setp.ne.b32 releases, %1, 0; @releases mbarrier.arrive.shared::cluster.b64 _, [%0]; "
        "}" ::"r"(empty_ + stage.index * 8),
        "r"(releases_)
        : "memory");
  }

 private:
  using Descriptor = PackedDescriptor<8 * S::line_bytes>;
  static_assert(S::bytes % 16 == 0 && S::a_bytes % 16 == 0);

  unsigned stages_, full_;
  Descriptor a_;
  unsigned empty_, row_factors_, column_factors_;
  int releases_;
  Ring<S::count> ring_;
  unsigned next_ = 0; ///< the next stage's distance from the first, in vectors of 16 bytes
  Stage last_;
};

#endif

} // namespace tessera::cuda::wgmma
