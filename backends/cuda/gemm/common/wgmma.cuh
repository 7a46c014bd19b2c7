#pragma once

/// Hopper's warpgroup matrix instruction: D (64×n, in the registers of 128 threads) += A (64×depth) · B (depth×n), with
/// f32 sums and both operands in shared memory. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix
/// Multiply-Accumulate Instructions".
///
/// Packed operands are stored along k in the layout without swizzling: blocks of 8 rows of 16 bytes, 128 contiguous
/// bytes each, which the matrix units read without bank conflicts (wgmma_packed/split_operands.cuh says in which
/// order). Operands that tensor maps brought are in lines of 128 bytes with the 128-byte swizzle, along k or, if 16
/// bit, along m or n.

#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::cuda {

/// The types that the matrix units multiply.
enum class MatrixUnitType { Fp16, Bf16, Tf32 };

/// The direction of op(A) or op(B) in which an operand's elements are contiguous.
enum class Major { K, MN };

constexpr __host__ __device__ int bytes_of(MatrixUnitType type) { return type == MatrixUnitType::Tf32 ? 4 : 2; }
/// Returns the number of steps of k of one instruction.
constexpr __host__ __device__ int depth_of(MatrixUnitType type) { return 32 / bytes_of(type); }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The descriptor of an operand without swizzling: where it starts in shared memory, and the bytes from one block to
/// the next along k and along its rows.
struct OperandDescriptor {
  std::uint64_t bits;

  __device__ OperandDescriptor(const void* shared, unsigned along_k, unsigned along_rows)
      : bits((__cvta_generic_to_shared(shared) & 0x3FFFF) >> 4 | static_cast<std::uint64_t>(along_k >> 4) << 16 |
             static_cast<std::uint64_t>(along_rows >> 4) << 32) {}
  /// Returns the descriptor of the operand that starts `bytes` further on.
  __device__ std::uint64_t at(unsigned bytes) const { return bits + (bytes >> 4); }
};

/// The same by an address in shared memory, for blocks that follow one another along k and are `along_rows` bytes apart
/// along the rows.
template <unsigned along_rows>
struct PackedDescriptor {
  unsigned low; ///< all that differs from operand to operand: additions to it do not leave the field of the address

  __device__ explicit PackedDescriptor(unsigned shared) : low((shared & 0x3FFFF) >> 4 | 128 >> 4 << 16) {}
  /// Returns the descriptor of the operand that starts `vectors` times 16 bytes and `bytes` bytes further on.
  __device__ std::uint64_t at(unsigned vectors, unsigned bytes) const {
    return std::uint64_t{along_rows >> 4} << 32 | (low + vectors + (bytes >> 4));
  }
};

/// The descriptor of an operand in blocks of 8 lines of 128 bytes, where 16-byte chunk c of line i is at c ^ i % 8. The
/// blocks follow one another along the rows if the operand is K-major, else along k; in the latter case `apart` is the
/// number of bytes to the next 64 rows.
struct SwizzledDescriptor {
  unsigned low; ///< all that differs from operand to operand: additions to it do not leave the field of the address

  __device__ explicit SwizzledDescriptor(const void* shared, unsigned apart = 0)
      : SwizzledDescriptor(static_cast<unsigned>(__cvta_generic_to_shared(shared)), apart) {}
  __device__ explicit SwizzledDescriptor(unsigned shared, unsigned apart)
      : low((shared & 0x3FFFF) >> 4 | apart >> 4 << 16) {}
  __device__ std::uint64_t at(unsigned bytes) const {
    constexpr unsigned high = 1024 >> 4 | 1u << 30;
    return std::uint64_t{high} << 32 | (low + (bytes >> 4));
  }
};

/// Makes registers that were written before, and shared memory that this thread has seen, ready for the products that
/// follow.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// Closes the group of products that were started since the last commit.
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Waits until at most `running` of the committed groups are in flight.
template <int running>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(running) : "memory");
}

// These are macros, because the registers and the instruction's name must be spelled out.
#define TESSERA_D8(i)                                                                                   \
  "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3]), "+f"(d[(i) + 4]), "+f"(d[(i) + 5]), \
      "+f"(d[(i) + 6]), "+f"(d[(i) + 7])
#define TESSERA_D32(i) TESSERA_D8(i), TESSERA_D8((i) + 8), TESSERA_D8((i) + 16), TESSERA_D8((i) + 24)
#define TESSERA_REGISTERS_8 TESSERA_D8(0)
#define TESSERA_REGISTERS_16 TESSERA_D8(0), TESSERA_D8(8)
#define TESSERA_REGISTERS_32 TESSERA_D32(0)
#define TESSERA_REGISTERS_64 TESSERA_REGISTERS_32, TESSERA_D32(32)
#define TESSERA_REGISTERS_96 TESSERA_REGISTERS_64, TESSERA_D32(64)
#define TESSERA_REGISTERS_112 TESSERA_REGISTERS_96, TESSERA_D8(96), TESSERA_D8(104)
#define TESSERA_REGISTERS_128 TESSERA_REGISTERS_96, TESSERA_D32(96)
#define TESSERA_NAMES_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define TESSERA_NAMES_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define TESSERA_NAMES_32                                                                                           \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, " \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define TESSERA_NAMES_64                                                                                             \
  TESSERA_NAMES_32                                                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TESSERA_NAMES_96                                                                                             \
  TESSERA_NAMES_64                                                                                                   \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, " \
  "%86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TESSERA_NAMES_112 \
  TESSERA_NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define TESSERA_NAMES_128                                                                                            \
  TESSERA_NAMES_96                                                                                                   \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, " \
  "%115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// `immediates` says that no signs change and, for 16-bit operands, which of them are MN-major.
#define TESSERA_WGMMA(shape, types, names, a_name, b_name, more, immediates, registers)                               \
  asm volatile("{ .reg .pred add; setp.ne.b32 add, " more ", 0; wgmma.mma_async.sync.aligned." shape types " {" names \
               "}, " a_name ", " b_name ", add, " immediates "; }"                                                    \
               : registers                                                                                            \
               : "l"(a_bits), "l"(b_bits), "r"(accumulate), "n"(a == Major::MN), "n"(b == Major::MN))
#define TESSERA_WGMMA_TYPES(n, count, a_name, b_name, more, a_major, b_major)                            \
  if constexpr (type == MatrixUnitType::Fp16)                                                            \
    TESSERA_WGMMA("m64n" #n "k16", ".f32.f16.f16", TESSERA_NAMES_##count, a_name, b_name, more,          \
                  "1, 1, " a_major ", " b_major, TESSERA_REGISTERS_##count);                             \
  else if constexpr (type == MatrixUnitType::Bf16)                                                       \
    TESSERA_WGMMA("m64n" #n "k16", ".f32.bf16.bf16", TESSERA_NAMES_##count, a_name, b_name, more,        \
                  "1, 1, " a_major ", " b_major, TESSERA_REGISTERS_##count);                             \
  else                                                                                                   \
    TESSERA_WGMMA("m64n" #n "k8", ".f32.tf32.tf32", TESSERA_NAMES_##count, a_name, b_name, more, "1, 1", \
                  TESSERA_REGISTERS_##count)

/// Starts d += A·B, or d := A·B if `accumulate` is 0. The caller must not access d before wait_for_products.
template <MatrixUnitType type, int n, Major a = Major::K, Major b = Major::K>
__device__ void multiply(float (&d)[n / 2], std::uint64_t a_bits, std::uint64_t b_bits, int accumulate) {
  static_assert(type != MatrixUnitType::Tf32 || (a == Major::K && b == Major::K));
  static_assert(n == 16 || n == 32 || n == 64 || n == 128 || n == 192 || n == 224 || n == 256);
  if constexpr (n == 16) {
    TESSERA_WGMMA_TYPES(16, 8, "%8", "%9", "%10", "%11", "%12");
  } else if constexpr (n == 32) {
    TESSERA_WGMMA_TYPES(32, 16, "%16", "%17", "%18", "%19", "%20");
  } else if constexpr (n == 64) {
    TESSERA_WGMMA_TYPES(64, 32, "%32", "%33", "%34", "%35", "%36");
  } else if constexpr (n == 128) {
    TESSERA_WGMMA_TYPES(128, 64, "%64", "%65", "%66", "%67", "%68");
  } else if constexpr (n == 192) {
    TESSERA_WGMMA_TYPES(192, 96, "%96", "%97", "%98", "%99", "%100");
  } else if constexpr (n == 224) {
    TESSERA_WGMMA_TYPES(224, 112, "%112", "%113", "%114", "%115", "%116");
  } else {
    TESSERA_WGMMA_TYPES(256, 128, "%128", "%129", "%130", "%131", "%132");
  }
}

// This variant takes operand A from registers. `immediates` says that no signs change and, for fp16, that B is K-major.
#define TESSERA_WGMMA_FROM_REGISTERS(shape, types, count, a_names, b_name, more, immediates)               \
  asm volatile("{ .reg .pred add; setp.ne.b32 add, " more ", 0; wgmma.mma_async.sync.aligned." shape types \
               " {" TESSERA_NAMES_##count "}, {" a_names "}, " b_name ", add, " immediates "; }"           \
               : TESSERA_REGISTERS_##count                                                                 \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_bits), "r"(accumulate))
#define TESSERA_TF32(n, count, a_names, b_name, more) \
  TESSERA_WGMMA_FROM_REGISTERS("m64n" #n "k8", ".f32.tf32.tf32", count, a_names, b_name, more, "1, 1")
#define TESSERA_FP16(n, count, a_names, b_name, more) \
  TESSERA_WGMMA_FROM_REGISTERS("m64n" #n "k16", ".f32.f16.f16", count, a_names, b_name, more, "1, 1, 0")

/// Starts d += A·B, or d := A·B if `accumulate` is 0, in tf32 and with A in registers. Of its warp's 16 rows, a lane
/// passes row lane / 4 (a[0], a[2]) and the row 8 below it (a[1], a[3]); a[0] and a[1] are at step lane % 4 of k, a[2]
/// and a[3] four steps later. The caller must not access d or a before wait_for_products.
template <int n>
__device__ void multiply_tf32(float (&d)[n / 2], const unsigned* a, std::uint64_t b_bits, int accumulate) {
  static_assert(n == 16 || n == 32 || n == 64 || n == 128 || n == 256);
  if constexpr (n == 16) {
    TESSERA_TF32(16, 8, "%8, %9, %10, %11", "%12", "%13");
  } else if constexpr (n == 32) {
    TESSERA_TF32(32, 16, "%16, %17, %18, %19", "%20", "%21");
  } else if constexpr (n == 64) {
    TESSERA_TF32(64, 32, "%32, %33, %34, %35", "%36", "%37");
  } else if constexpr (n == 128) {
    TESSERA_TF32(128, 64, "%64, %65, %66, %67", "%68", "%69");
  } else {
    TESSERA_TF32(256, 128, "%128, %129, %130, %131", "%132", "%133");
  }
}

/// Starts d += A·B, or d := A·B if `accumulate` is 0, in fp16, with A in registers and a K-major B. Of its warp's 16
/// rows, a lane passes row lane / 4 (a[0], a[2]) and the row 8 below it (a[1], a[3]), two steps of k in each register:
/// a[0] and a[1] are at steps lane % 4 · 2 and the next one, a[2] and a[3] eight steps later. The caller must not
/// access d or a before wait_for_products.
template <int n>
__device__ void multiply_fp16(float (&d)[n / 2], const unsigned* a, std::uint64_t b_bits, int accumulate) {
  static_assert(n == 32 || n == 64 || n == 128);
  if constexpr (n == 32) {
    TESSERA_FP16(32, 16, "%16, %17, %18, %19", "%20", "%21");
  } else if constexpr (n == 64) {
    TESSERA_FP16(64, 32, "%32, %33, %34, %35", "%36", "%37");
  } else {
    TESSERA_FP16(128, 64, "%64, %65, %66, %67", "%68", "%69");
  }
}

#undef TESSERA_FP16
#undef TESSERA_TF32
#undef TESSERA_WGMMA_FROM_REGISTERS
#undef TESSERA_WGMMA_TYPES
#undef TESSERA_WGMMA
#undef TESSERA_NAMES_128
#undef TESSERA_NAMES_112
#undef TESSERA_NAMES_96
#undef TESSERA_NAMES_64
#undef TESSERA_NAMES_32
#undef TESSERA_NAMES_16
#undef TESSERA_NAMES_8
#undef TESSERA_REGISTERS_128
#undef TESSERA_REGISTERS_112
#undef TESSERA_REGISTERS_96
#undef TESSERA_REGISTERS_64
#undef TESSERA_REGISTERS_32
#undef TESSERA_REGISTERS_16
#undef TESSERA_REGISTERS_8
#undef TESSERA_D32
#undef TESSERA_D8

#endif

} // namespace tessera::cuda
