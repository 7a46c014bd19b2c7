#include "ladder.hpp"

#include <array>

namespace tessera::cuda {

std::span<const ReduceKernel> reduce_ladder() {
  static const std::array kernels{
      canonical_squares_f32,
      canonical_squares_f64, // This is the default, because it has the same bits on every backend.
      canonical_squares_f16,
      canonical_squares_bf16,
      canonical_squares_i32, //
      canonical_sum_f32,
      canonical_sum_f64,
      canonical_sum_f16,
      canonical_sum_bf16, //
      canonical_max_f32,
      canonical_max_f64,
      canonical_max_f16,
      canonical_max_bf16, //
      cub_f32,
      cub_f64,
      cub_i32, //
      warp_shuffle_f32,
      warp_shuffle_f64,
      warp_shuffle_i32, //
      tree_unrolled_f32,
      tree_unrolled_f64,
      tree_unrolled_i32, //
      tree_sequential_f32,
      tree_sequential_f64,
      tree_sequential_i32, //
      tree_strided_f32,
      tree_strided_f64,
      tree_strided_i32, //
      block_sum_f32,
      block_sum_f64,
      block_sum_i32, //
      many_blocks_f32,
      many_blocks_f64,
      many_blocks_i32, //
      interleaved_f32,
      interleaved_f64,
      interleaved_i32, //
      contiguous_f32,
      contiguous_f64,
      contiguous_i32, //
      one_thread_f32,
      one_thread_f64,
      one_thread_i32, //
  };
  return kernels;
}

} // namespace tessera::cuda
