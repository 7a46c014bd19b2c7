/// mma_fp16: fp16 operands at any address, multiplied by the matrix instructions of a warp in one launch.
///
/// It takes small products of operands whose lines do not begin at multiples of 16 bytes: the copy engine of wgmma_fp16
/// would read them only after a copy, which is another launch or two. It takes 2·m·n·k operations and reads m·n·k/16
/// bytes, most of them from caches. Sources: NVIDIA CUTLASS; PTX ISA, "mma.sync" and "ldmatrix".

#include "any_alignment_rung.cuh"

namespace tessera::cuda {

const GemmKernel mma_fp16_f16 = any_alignment::rung<__half>(
    "mma_fp16", "a warp's matrix instructions on fp16 at any address", DType::F16, Math::Fp16);

} // namespace tessera::cuda
