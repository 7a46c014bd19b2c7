#pragma once

/// The tests, and the digests of their right results. A new test has the digest 0 at first; health() then reports the
/// digest that this machine finds. It is kept where machines of two makers agree, or a model of the contract.

#include "probes.hpp"

namespace tessera::health_check {

constexpr Probe product(Weight weight, DType type, Math math, Index m, Index n, Index k, std::uint64_t digest) {
  return {.weight = weight, .type = type, .math = math, .shape = {.m = m, .n = n, .k = k}, .digest = digest};
}
constexpr Probe sum(Weight weight, ReduceOp reduction, DType type, Index rows, Index cols, std::uint64_t digest) {
  return {.kind = ProbeKind::Reduction,
          .weight = weight,
          .type = type,
          .shape = {.m = rows, .n = cols, .k = 0},
          .reduction = reduction,
          .digest = digest};
}
constexpr Probe fill(Weight weight, Distribution distribution, DType type, Index rows, Index cols,
                     std::uint64_t digest) {
  return {.kind = ProbeKind::Fill,
          .weight = weight,
          .type = type,
          .shape = {.m = rows, .n = cols, .k = 0},
          .fill = distribution,
          .digest = digest};
}

/// The operands of a short test fit the first cache, of a middle one the second or third, and of a large one none.
inline constexpr std::array all_probes{
    product(Weight::Short, DType::F32, Math::Strict, 24, 24, 24, 0x5579d37864bff442),
    product(Weight::Short, DType::F64, Math::Strict, 24, 24, 24, 0x44247ec28f6b67b9),
    product(Weight::Short, DType::F16, Math::Strict, 24, 24, 24, 0xd65ccb3488cb8571),
    product(Weight::Short, DType::BF16, Math::Strict, 24, 24, 24, 0x0a0681f40d121c44),
    product(Weight::Short, DType::F32, Math::Tf32, 17, 19, 64, 0x01a499805fa70f24),
    product(Weight::Short, DType::F32, Math::Bf16, 17, 19, 64, 0x93d397cc4d728546),
    product(Weight::Short, DType::F32, Math::Fp16, 17, 19, 64, 0x6768e90a3ee69f7e),
    product(Weight::Short, DType::F16, Math::Fp16, 17, 19, 64, 0x0820c20e6039b8f6),
    product(Weight::Short, DType::BF16, Math::Bf16, 17, 19, 64, 0x23bef386943a0d76),
    product(Weight::Short, DType::F32, Math::EmulatedFp16x3, 9, 11, 300, 0x80558783d2ca0494),
    product(Weight::Short, DType::F32, Math::EmulatedBf16x6, 9, 11, 300, 0xb9a61a07e45d99f4),
    product(Weight::Short, DType::F32, Math::ScaledFp16, 9, 11, 300, 0xf3e4ded1d432acac),
    sum(Weight::Short, ReduceOp::SumOfSquares, DType::F32, 40, 50, 0x50e8b0bdccfb509b),
    sum(Weight::Short, ReduceOp::SumAbs, DType::F64, 40, 50, 0xc0728fc0e9b3dcca),
    fill(Weight::Short, Distribution::Uniform, DType::F32, 40, 50, 0x38567b1ba57cdc16),
    fill(Weight::Short, Distribution::Normal, DType::F64, 40, 50, 0xf2c39fb05553f53a),
    product(Weight::Middle, DType::F32, Math::Strict, 97, 83, 1100, 0x308392a91ee3574a),
    product(Weight::Middle, DType::F64, Math::Strict, 97, 83, 1100, 0x96cebc40e98414e9),
    product(Weight::Middle, DType::F16, Math::Strict, 61, 83, 1100, 0x27c8472d7175bd7b),
    product(Weight::Middle, DType::BF16, Math::Strict, 61, 83, 1100, 0xd1d8bb670e036e11),
    product(Weight::Middle, DType::F64, Math::Int8Units, 40, 50, 1500, 0x81dc92a9479ba138),
    sum(Weight::Middle, ReduceOp::SumAbs, DType::F32, 300, 500, 0x0a52dd181a88e50a),
    sum(Weight::Middle, ReduceOp::SumOfSquares, DType::F64, 300, 500, 0x15cc6bce691b7eea),
    product(Weight::Large, DType::F32, Math::Strict, 16, 2048, 2048, 0xe54d2c54f096ca00),
    product(Weight::Large, DType::F64, Math::Strict, 500, 520, 540, 0xf7c7ec2e723eb77b),
    product(Weight::Large, DType::F32, Math::Tf32, 40, 50, 2500, 0x5f582ca0f0444653),
    sum(Weight::Large, ReduceOp::SumOfSquares, DType::F32, 2048, 2048, 0xc0f22bc4b915b458),
    fill(Weight::Large, Distribution::Uniform, DType::F32, 2048, 2048, 0x7ceea017a01de7e2),
    fill(Weight::Large, Distribution::Normal, DType::F64, 1000, 1000, 0x72cbb240e45143ac),
};

} // namespace tessera::health_check
