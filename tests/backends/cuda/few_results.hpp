#pragma once

/// Products of fma_small on 132 multiprocessors: each tile, with the segments of k in one block and in two to eight. k
/// ends anywhere in a stage, or with it, and lines have any length.

#include <tessera/executor.hpp>

#include "tile_widths.hpp"

namespace tessera::test {

constexpr GemmShape products_of_few_results[]{
    {8, 8, 448},    {5, 5, 832},     {21, 7, 244},    {1, 75, 925},    {70, 1, 453},    {65, 64, 384},  {113, 31, 128},
    {300, 6, 700},  {64, 472, 849},  {200, 120, 320}, {7, 90, 1024},   {144, 24, 1368}, {80, 69, 1781}, {30, 5, 2048},
    {78, 16, 2552}, {87, 72, 2520},  {3, 4, 3073},    {100, 40, 4001}, {64, 20, 4578},  {50, 3, 5000},  {64, 64, 5312},
    {9, 100, 6143}, {21, 64, 6282},  {40, 40, 7001},  {3, 4, 7584},    {8, 8, 8192},    {60, 30, 8191}, {24, 192, 4776},
    {640, 64, 554}, {72, 621, 1816}, {240, 320, 384},
};

/// Products of emulated_fp16x3 and scaled_fp16 whose warps split their operands themselves, on 132 multiprocessors:
/// each tile, with the segments of k in one block and in two to four.
constexpr GemmShape products_of_split_warps[]{
    {12, 66, 1243},   {42, 2, 6382},    {20, 74, 2613},   {10, 107, 1922},  {72, 1506, 1306}, {35, 2322, 923},
    {15, 2120, 2819}, {11, 2900, 2007}, {2009, 51, 1757}, {523, 139, 292},  {154, 399, 1924}, {1233, 17, 2290},
    {1450, 171, 667}, {2414, 45, 1965}, {2330, 4, 2114},  {2473, 12, 1826}, {64, 64, 5312},   {300, 300, 300},
    {1, 1, 257},      {1158, 30, 3056}, {1589, 72, 308},  {1463, 71, 321},  {1497, 18, 1820},
};

/// Products of emulated_fp16x3 and scaled_fp16 whose blocks split their operands, on 132 multiprocessors: in one piece,
/// in pieces of a segment of k, in segments and in pieces of segments; k and lines end anywhere.
constexpr GemmShape products_of_split_blocks[]{
    {88, 1872, 704}, {497, 104, 2300}, {200, 203, 5000}, {96, 4096, 512}, {65, 700, 3000},
    {400, 401, 300}, {129, 2001, 801}, {239, 391, 4503}, {63, 4097, 385}, {300, 500, 1023},
};

/// Products of scaled_fp16 whose packed operands are multiplied in tiles of 64, 128 and 192 columns, on 132
/// multiprocessors.
constexpr GemmShape products_of_tile_widths[]{{520, 1010, 1100}, {1400, 1000, 300}, {1400, 1500, 700}};

/// Returns such a product of matrices without padding, for a kernel's reject() and plan.
inline GemmCall packed_call(DType type, const GemmShape& x, Op op_a, Op op_b) {
  return {{.type = type,
           .op_a = op_a,
           .op_b = op_b,
           .m = x.m,
           .n = x.n,
           .k = x.k,
           .lda = op_a == Op::None ? x.k : x.m,
           .ldb = op_b == Op::None ? x.n : x.k,
           .ldc = x.n}};
}

} // namespace tessera::test
