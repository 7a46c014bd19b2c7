#pragma once

/// Batches that take each tile of the kernel by tensor maps, on 132 multiprocessors: with one segment of k and with
/// two, and with tiles that are not full in both directions.

#include <tessera/batch.hpp>

namespace tessera::test {

struct BatchInTiles {
  Index count, m, n, k; ///< m of each product or, where rows have ends, of all
};
constexpr BatchInTiles batches_at_strides[]{
    {7, 1231, 72, 104}, {14, 444, 72, 2072},  {69, 74, 144, 136}, {5, 1690, 144, 2240},
    {14, 555, 136, 40}, {47, 164, 136, 2216}, {5, 1546, 8, 88},   {2, 51, 112, 2208},
    {2, 1, 8, 64},      {3, 5, 200, 2064},    {71, 129, 8, 72},   {2, 2393, 8, 2248},
};
constexpr BatchInTiles batches_by_ends[]{
    {10, 5109, 136, 72},  {23, 5663, 80, 2168},  {67, 5570, 160, 104}, {67, 4508, 136, 2200},
    {37, 5991, 144, 136}, {13, 5337, 312, 2064}, {63, 5793, 8, 40},    {73, 5840, 8, 2064},
    {2, 1, 8, 8},         {5, 3, 200, 2080},     {67, 130, 144, 40},   {2, 75, 80, 2272},
};

/// Returns such a batch without memory, with lines that begin at multiples of 16 bytes. The ends, which `by_ends` asks
/// for, are not numbers in memory either.
inline GemmBatch packed_batch(DType type, const BatchInTiles& x, bool by_ends, Op op_a, Op op_b) {
  GemmBatch group{.call = {{.type = type,
                            .math = type == DType::F16 ? Math::Fp16 : Math::Bf16,
                            .op_a = op_a,
                            .op_b = op_b,
                            .m = x.m,
                            .n = x.n,
                            .k = x.k,
                            .lda = op_a == Op::None ? x.k : (x.m + 7) / 8 * 8,
                            .ldb = op_b == Op::None ? x.n : x.k,
                            .ldc = x.n},
                           type},
                  .count = x.count,
                  .stride_a = 0,
                  .stride_b = x.k * x.n,
                  .stride_c = by_ends ? 0 : x.m * x.n};
  if (!by_ends) group.stride_a = group.call.lda * (op_a == Op::None ? x.m : x.k);
  if (by_ends) group.ends.data = &group; // any address
  return group;
}

} // namespace tessera::test
