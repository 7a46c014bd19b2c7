"""A kernel in Triton, for f32, f16 and bf16: each program computes a tile of C, and masks cut the tiles at the edges.

    gemm_compare --gpu --kernel cuda_triton.py --device cuda --sizes 1024,4096
    gemm_compare --gpu --kernel cuda_triton.py --device cuda --dtype f16 --sizes 1000,4096
"""

import torch
import triton
import triton.language as tl


@triton.jit
def multiply(a, b, c, m, n, k, lda, ldb, ldc, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr):
    rows = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)[:, None]
    cols = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)[None, :]
    of_a = a + rows.to(tl.int64) * lda
    of_b = b + cols
    sums = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for first in range(0, k, TILE_K):
        along_a = first + tl.arange(0, TILE_K)[None, :]
        along_b = first + tl.arange(0, TILE_K)[:, None]
        left = tl.load(of_a + along_a, mask=(rows < m) & (along_a < k), other=0.0)
        right = tl.load(of_b + along_b.to(tl.int64) * ldb, mask=(along_b < k) & (cols < n), other=0.0)
        sums = tl.dot(left, right, sums, input_precision="ieee")  # f32 operands are not rounded to tf32
    tl.store(c + rows.to(tl.int64) * ldc + cols, sums.to(c.dtype.element_ty), mask=(rows < m) & (cols < n))


def solve(a, b, c):
    if a.dtype not in (torch.float32, torch.float16, torch.bfloat16):
        raise TypeError(f"f32, f16 and bf16 only, not {a.dtype}")
    (m, k), n = a.shape, b.shape[1]
    tile = (64, 64, 32) if a.dtype == torch.float32 else (128, 128, 64)
    grid = (triton.cdiv(m, tile[0]), triton.cdiv(n, tile[1]))
    multiply[grid](a, b, c, m, n, k, a.stride(0), b.stride(0), c.stride(0), *tile)
