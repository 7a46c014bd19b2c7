/// A plug-in with "SPIR-V" that is OpenCL C, for a loader that takes it so (tests/backends/opencl/faulty_loader.cpp). A
/// definition chooses one fault; without one it works.

#include <cstdint>

#include <tessera/user_kernel/spirv_table.hpp>

#include "functors.hpp"
#include "support/table_head.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

/// The kernels as SpirvKernel declares them. A view is six words: address, rows, cols, two strides, tag.
constexpr char code[] = R"(
#pragma OPENCL FP_CONTRACT OFF
typedef struct { ulong w[13]; } Saxpy;
typedef struct { ulong w[6]; } Square;
typedef struct { ulong w[1]; } None;
#define NUMBERS __global char* scratch, long n0, long n1, long n2, long n3, long n4
#define AT(f, first, i, j) ((__global float*)(f).w[first])[(i) * (long)(f).w[first + 3] + (j) * (long)(f).w[first + 4]]

__kernel void probe(None f, NUMBERS) {
  const long e = get_global_id(0);
  if (e >= n0) return;
  __global float* at = (__global float*)scratch + e;
  const float x = at[0], y = at[n0], z = at[2 * n0];
  at[3 * n0] = x / y;
  at[4 * n0] = sqrt(x);
  at[5 * n0] = FMA(x, y, z);
  at[6 * n0] = x * y + z;
  at[7 * n0] = x * 0x1p-100f * 0x1p-40f;
}
__kernel void saxpy(Saxpy f, NUMBERS) {
  const long j = get_global_id(0), i = get_global_id(1);
  if (i < n0 && j < n1) AT(f, 6, i, j) = fma(as_float((uint)f.w[12]), AT(f, 0, i, j), AT(f, 6, i, j));
}
double fold(double value, __local double lanes[4][32]) {
  const int lane = get_local_id(0), slot = get_local_id(1);
  lanes[slot][lane] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = 16; width > 0; width /= 2) {
    if (lane < width) lanes[slot][lane] += lanes[slot][lane + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return lanes[slot][0];
}
__kernel void square_sum(Square f, NUMBERS) {
  const long chunk = get_global_id(1), end = min(n0, (chunk + 1) * 1024);
  __local double lanes[4][32];
  double value = 0;
  for (long e = chunk * 1024 + get_local_id(0); e < end; e += 32) {
    const double x = AT(f, 0, e / n1, e % n1);
    value += x * x;
  }
  value = fold(value, lanes);
  if (get_local_id(0) == 0 && chunk * 1024 < n0) ((__global double*)(scratch + n4))[chunk] = value;
}
__kernel void fold_sums(None f, NUMBERS) {
  const long chunk = get_global_id(1), end = min(n0, (chunk + 1) * 1024);
  __local double lanes[4][32];
  double value = 0;
  for (long e = chunk * 1024 + get_local_id(0); e < end; e += 32) value += ((__global double*)(scratch + n1))[e];
  value = fold(value, lanes);
  if (get_local_id(0) == 0 && chunk * 1024 < n0) ((__global double*)(scratch + n2))[chunk] = value;
}
)";
#if defined(ROUNDS_TWICE)
constexpr char first_line[] = "#define FMA(x, y, z) ((x) * (y) + (z))\n";
#else
constexpr char first_line[] = "#define FMA fma\n";
#endif

/// The beginning of a module that declares the capability of f64: its five words, and OpCapability Float64.
constexpr std::uint32_t module_in_f64[] = {0x07230203, 0x10000, 0, 1, 0, 2 << 16 | 17, 4, 2 << 16 | 17, 10};

SpirvFunctor entry(const char* name, std::size_t size, std::size_t alignment) {
  SpirvFunctor made{};
  made.name = name;
  made.size = static_cast<std::uint32_t>(size);
  made.alignment = static_cast<std::uint32_t>(alignment);
  made.argument_bytes = static_cast<std::uint32_t>((size + 7) / 8 * 8);
  return made;
}

[[maybe_unused]] const SpirvTable* table() {
  static SpirvFunctor functors[] = {
#if defined(OTHER_FUNCTOR)
    entry(Saxpy::name, sizeof(Saxpy) + 8, alignof(Saxpy)),
#else
    entry(Saxpy::name, sizeof(Saxpy), alignof(Saxpy)),
#endif
    entry(Square::name, sizeof(Square), alignof(Square)),
    entry(Large::name, sizeof(Large), alignof(Large))
  };
  functors[0].kernels[static_cast<int>(KernelOp::ForEach)][1].run = "saxpy";
  functors[1].kernels[static_cast<int>(KernelOp::Sum)][1] = {"square_sum", "fold_sums", false};
  functors[2].kernels[static_cast<int>(KernelOp::ForEach)][0].run = "large";
  static char text[sizeof first_line + sizeof code];
  char* to = text;
  for (const char* from = first_line; *from != '\0'; ++from) *to++ = *from;
  for (const char* from = code; *from != '\0'; ++from) *to++ = *from;
  static const SpirvTable made {
    .struct_size = test::table_size(sizeof(SpirvTable)), .abi_version = test::table_abi(spirv_table_abi),
    .build_tag = test::table_tag, .functors = functors,
#if defined(NO_FUNCTORS)
    .count = 0,
#else
    .count = 3,
#endif
#if defined(IN_F64)
    .code = module_in_f64, .code_bytes = sizeof module_in_f64,
#else
    .code = text, .code_bytes = static_cast<std::size_t>(to - text),
#endif
#if defined(NO_KERNEL)
    .probe = "another_probe",
#else
    .probe = "probe",
#endif
  };
  return &made;
}

} // namespace

#if defined(NO_SYMBOL)
#define ENTRY another_function
#else
#define ENTRY tessera_user_kernels_spirv
#endif

extern "C" __attribute__((visibility("default"))) const tessera::SpirvTable* ENTRY() noexcept {
#if defined(NULL_TABLE)
  return nullptr;
#else
  return table();
#endif
}
