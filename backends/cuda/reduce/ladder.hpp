#pragma once

/// The reductions, best first. Each rung is in the file reduce/<name>.cu, which ends in the rung's kernels.

#include <span>

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

extern const ReduceKernel canonical_squares_f32, canonical_squares_f64, canonical_squares_f16, canonical_squares_bf16;
extern const ReduceKernel canonical_squares_i32; // in canonical_whole.cu
extern const ReduceKernel canonical_sum_f32, canonical_sum_f64, canonical_sum_f16, canonical_sum_bf16;
extern const ReduceKernel canonical_max_f32, canonical_max_f64, canonical_max_f16, canonical_max_bf16;
extern const ReduceKernel cub_f32, cub_f64, cub_i32;
extern const ReduceKernel warp_shuffle_f32, warp_shuffle_f64, warp_shuffle_i32;
extern const ReduceKernel tree_unrolled_f32, tree_unrolled_f64, tree_unrolled_i32;
extern const ReduceKernel tree_sequential_f32, tree_sequential_f64, tree_sequential_i32;
extern const ReduceKernel tree_strided_f32, tree_strided_f64, tree_strided_i32;
extern const ReduceKernel block_sum_f32, block_sum_f64, block_sum_i32;
extern const ReduceKernel many_blocks_f32, many_blocks_f64, many_blocks_i32;
extern const ReduceKernel interleaved_f32, interleaved_f64, interleaved_i32;
extern const ReduceKernel contiguous_f32, contiguous_f64, contiguous_i32;
extern const ReduceKernel one_thread_f32, one_thread_f64, one_thread_i32;

std::span<const ReduceKernel> reduce_ladder();

} // namespace tessera::cuda
