#pragma once

/// How a consumer multiplies a segment of k of 16-bit operands whose boxes arrive in the ring of stages.

#include "pipeline.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

using wgmma::Barriers;

/// Issues the products of one stage.
template <MatrixUnitType type, Major a_major, Major b_major, int count>
__device__ void multiply_stage(float (&sum)[count], const SwizzledDescriptor& a, const SwizzledDescriptor& b,
                               int accumulate) {
  constexpr unsigned along_k = 16 * 2, across = 16 * 128; // bytes from one instruction's k to the next one's
  begin_products();
#pragma unroll
  for (unsigned step = 0; step < block_k_of(type) / depth_of(type); ++step)
    multiply<type, count * 2, a_major, b_major>(sum, a.at(step * (a_major == Major::K ? along_k : across)),
                                                b.at(step * (b_major == Major::K ? along_k : across)),
                                                step == 0 ? accumulate : 1);
  commit_products();
}

/// Calls f with the directions of op(A) and op(B) as template arguments: `majors` is 2 if A is MN-major, and 1 more if
/// B is.
template <class F>
__device__ void with_majors(int majors, const F& f) {
  if (majors == 0)
    f.template operator()<Major::K, Major::K>();
  else if (majors == 1)
    f.template operator()<Major::K, Major::MN>();
  else if (majors == 2)
    f.template operator()<Major::MN, Major::K>();
  else
    f.template operator()<Major::MN, Major::MN>();
}

/// Multiplies a segment of k of a small tile. Its products take less time than the instructions around them, so that
/// these are few: directions and addresses are known before the loop, and in registers that all threads of a warp
/// share.
template <MatrixUnitType type, class S, Major a_major, Major b_major, int count>
__device__ void multiply_short(float (&sum)[count], const char* shared, Barriers<S::count, S::sharers>& barriers,
                               Ring<S::count>& ring, int stages, int consumer, int lane, int blocks) {
  const auto same_in_warp = [](unsigned value) { return __shfl_sync(~0U, value, 0); };
  const unsigned full = same_in_warp(shared_address(barriers.full)),
                 empty = same_in_warp(shared_address(barriers.empty));
  const unsigned first = same_in_warp(shared_address(shared) + (S::beside ? 0 : consumer * 64 * 128));
  const unsigned first_b = same_in_warp(shared_address(shared) + S::a_bytes + S::b_of(consumer, b_major));
  unsigned stage = same_in_warp(ring.stage), phase = same_in_warp(ring.phase);
  unsigned before = 0;
  for (int k = 0; k < blocks; ++k) {
    wait_at(full + stage * 8, phase);
    const SwizzledDescriptor a(first + stage * S::bytes, 0), b(first_b + stage * S::bytes, 64 * 128);
    multiply_stage<type, a_major, b_major>(sum, a, b, k > 0);
    wait_for_products<1>();
    if (k > 0) barriers.release_at(empty + before * 8, lane);
    before = stage;
    if (++stage == static_cast<unsigned>(stages)) {
      stage = 0;
      phase ^= 1;
    }
  }
  wait_for_products<0>();
  barriers.release_at(empty + before * 8, lane);
  ring.stage = static_cast<int>(stage);
  ring.phase = phase;
}

/// Multiplies a segment of k of a tile with more than 64 columns a consumer. `beside(k)` is called while the products
/// of block k of the segment run.
template <MatrixUnitType type, class S, int count, class Beside>
__device__ void multiply_long(float (&sum)[count], const char* shared, Barriers<S::count, S::sharers>& barriers,
                              Ring<S::count>& ring, int stages, int consumer, int lane, int blocks, int majors,
                              Major b_major, const Beside& beside) {
  int before = -1; // the stage whose products may still run
  for (int k = 0; k < blocks; ++k, ring.advance(stages)) {
    wait(barriers.full[ring.stage], ring.phase);
    const char* stage = shared + ring.stage * S::bytes;
    const SwizzledDescriptor a(stage + (S::beside ? 0 : consumer * 64 * 128));
    const SwizzledDescriptor b(stage + S::a_bytes + S::b_of(consumer, b_major), 64 * 128);
    const int accumulate = k > 0;
    with_majors(majors, [&]<Major of_a, Major of_b>() { multiply_stage<type, of_a, of_b>(sum, a, b, accumulate); });
    beside(k);
    wait_for_products<1>();
    if (before >= 0) barriers.release(before, lane);
    before = ring.stage;
  }
  wait_for_products<0>();
  barriers.release(before, lane);
}

#endif

} // namespace tessera::cuda::tma
