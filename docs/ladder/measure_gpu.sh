#!/bin/sh
# Measures on a GPU what the pages of the ladder show: times, registers and occupancy with gemm_compare, and counters
# with Nsight Compute (ncu).
#
#     measure_gpu.sh BUILD FOLDER [PART...]    PART: times, f32, reductions, units, more, f64; without one: all of them
#
# BUILD has bin/gemm_compare. FOLDER gets ladder-*.json and ncu-PART/KERNEL.csv; `keep_measured.py FOLDER MACHINE` puts
# them into docs/results, and `make_ladder.py` makes the pages again.
set -u
if [ $# -lt 2 ]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0"
  exit 2
fi
compare=$1/bin/gemm_compare
out=$2
shift 2
parts=${*:-times f32 reductions units more f64}
size=${SIZE:-2048}
length=${LENGTH:-16777216}
ncu=${NCU:-$(command -v ncu || find /usr/local/cuda*/bin /opt/nvidia/nsight-compute -name ncu 2>/dev/null | head -n 1)}
mkdir -p "$out"

gemm='naive_strided naive_coalesced naive_flat transposed_b row_shared shared_tile_16 shared_tile_32
shared_tile_zero_padded shared_tile_bank_padded tile_1d tile_2d tile_2d_register occupancy_1 occupancy_3 float4
double_buffer conflict_free z_order warp_tile async_copy pitched'
kahan='kahan_flat kahan_row_shared kahan_tile kahan_tile_zero_padded'
reductions='one_thread contiguous interleaved many_blocks block_sum tree_strided tree_sequential tree_unrolled
warp_shuffle'
# The names of the kernels' functions; what prepares operands or fills matrices is not among them.
functions='^(naive_|transposed_b|elements|rows|row_shared|tiles|shared_tile|zero_padded|tile_|float4|double_buffer'
functions=$functions'|conflict_free|z_order|warp_tile|async_copy|segmented|wmma_|dmma|kahan_|pitched|one_thread'
functions=$functions'|contiguous|interleaved|many_blocks|block_sum|tree_|warp_shuffle|stream_k)'

metrics=gpu__time_duration.sum,launch__registers_per_thread,launch__shared_mem_per_block_static
metrics=$metrics,launch__shared_mem_per_block_dynamic,launch__block_size,launch__grid_size
metrics=$metrics,sm__maximum_warps_per_active_cycle_pct,sm__warps_active.avg.pct_of_peak_sustained_active
metrics=$metrics,smsp__issue_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum
metrics=$metrics,sm__throughput.avg.pct_of_peak_sustained_elapsed,dram__throughput.avg.pct_of_peak_sustained_elapsed
metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics=$metrics,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum
metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics=$metrics,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
metrics=$metrics,l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct,smsp__inst_executed_op_local_ld.sum
metrics=$metrics,regex:smsp__average_warps_issue_stalled_.*_per_issue_active.ratio

# count PART KERNEL OPTION...: writes FOLDER/ncu-PART/KERNEL.csv. The second launch is taken, after a warm one.
count() {
  part=$1 kernel=$2
  shift 2
  mkdir -p "$out/ncu-$part"
  for skip in 1 0; do
    "$ncu" --csv --page raw --kernel-name "regex:$functions" --launch-skip $skip --launch-count 1 --metrics "$metrics" \
      "$compare" --gpu --kernels "$kernel" --repeat 2 --check-rows 1 --no-progress "$@" \
      >"$out/ncu-$part/$kernel.csv" 2>"$out/ncu-$part/$kernel.log"
    if grep -q '^"0"' "$out/ncu-$part/$kernel.csv"; then
      echo "$part $kernel: counted"
      return
    fi
  done
  echo "$part $kernel: nothing was counted; $out/ncu-$part/$kernel.log says why"
}

common='--gpu --repeat 7 --time-limit 2 --check-rows 4 --no-progress'
for part in $parts; do
  case $part in
  times)
    "$compare" $common --sizes 1024,2048,4096 --dtype f32 --math strict,compensated,tf32 --kernels \
      "$(echo $gemm $kahan segmented stream_k slender wmma_tf32 wgmma_tf32 strict cublas cublas_lt cublas_tf32 | tr ' ' ,)" \
      --json "$out/ladder-f32.json" >"$out/ladder-f32.txt"
    "$compare" --gpu --op sum_of_squares --sizes 1048576,16777216,67108864 --repeat 7 --no-progress \
      --json "$out/ladder-sum-of-squares.json" >"$out/ladder-sum-of-squares.txt"
    ;;
  more)
    "$compare" $common --sizes 1024,2048,4096 --dtype f64 --math strict,compensated --kernels \
      "$(echo $gemm $kahan segmented stream_k slender dmma cublas cublas_lt | tr ' ' ,)" \
      --json "$out/ladder-f64.json" >"$out/ladder-f64.txt"
    "$compare" $common --sizes 1024,2048,4096 --dtype f16,bf16 --kernels 'wmma_*,wgmma_*,cublas*' \
      --json "$out/ladder-16-bit.json" >"$out/ladder-16-bit.txt"
    "$compare" $common --shape 64x64x65536 --dtype f32 --kernels segmented,async_copy,slender,stream_k,cublas \
      --json "$out/ladder-deep.json" >"$out/ladder-deep.txt"
    ;;
  f32) for kernel in $gemm $kahan; do count f32 "$kernel" --dtype f32 --math strict,compensated --sizes "$size"; done ;;
  f64) for kernel in $gemm dmma; do count f64 "$kernel" --dtype f64 --math strict --sizes "$size"; done ;;
  units)
    count units wmma_tf32 --dtype f32 --math tf32 --sizes "$size"
    count units wmma_fp16 --dtype f16 --sizes "$size"
    count units wmma_bf16 --dtype bf16 --sizes "$size"
    count units segmented --dtype f32 --math strict --shape 64x64x65536
    ;;
  reductions)
    for kernel in $reductions; do count reductions "$kernel" --op sum_of_squares --dtype f32 --sizes "$length"; done
    ;;
  *) echo "measure_gpu.sh: no part is called $part" >&2; exit 2 ;;
  esac
done
