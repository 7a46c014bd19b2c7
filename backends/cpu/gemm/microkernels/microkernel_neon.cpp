/// Micro-kernels for AArch64's vectors of 128 bits (NEON). 8 rows of three vectors fill 24 of the 32 registers; three
/// more hold B and one A.

#include <arm_neon.h>

#include "microkernel_body.hpp"

namespace tessera::cpu {
namespace {

struct F32 {
  using T = float;
  using Vector = float32x4_t;
  static constexpr int lanes = 4;
  static constexpr int registers = 32;
  static constexpr int tile_m = 8;
  static constexpr int vectors = 3;
  static constexpr int complex_rows = 12;
  static constexpr bool prefetches_strips = true;
  static Vector zero() { return vdupq_n_f32(0.0f); }
  static Vector one() { return vdupq_n_f32(1.0f); }
  static Vector load(const T* x) { return vld1q_f32(x); }
  static Vector broadcast_once(const T* x) { return vld1q_dup_f32(x); }
  static Vector broadcast(const T* x) { return broadcast_once(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return vfmaq_f32(z, x, y); }
  static Vector subtract_product(Vector x, Vector y, Vector z) { return vfmsq_f32(z, x, y); }
  static Vector add(Vector x, Vector y) { return vaddq_f32(x, y); }
  static void store(T* x, Vector v) { vst1q_f32(x, v); }
  static Vector load_unaligned(const T* x) { return vld1q_f32(x); }
  /// NEON has no masks: a mask is the number of elements.
  using Mask = int;
  static Mask mask(int count) { return count; }
  static void keep_mask(Mask& mask) { asm("" : "+r"(mask)); }
  static Vector load_part(const T* x, Mask count) {
    if (count >= lanes) return load(x);
    Vector v = zero();
    if (count > 0) v = vld1q_lane_f32(x, v, 0);
    if (count > 1) v = vld1q_lane_f32(x + 1, v, 1);
    if (count > 2) v = vld1q_lane_f32(x + 2, v, 2);
    return v;
  }
  static void store_part(T* x, Mask count, Vector v) {
    if (count >= lanes) return store(x, v);
    if (count > 0) vst1q_lane_f32(x, v, 0);
    if (count > 1) vst1q_lane_f32(x + 1, v, 1);
    if (count > 2) vst1q_lane_f32(x + 2, v, 2);
  }
  static void keep(Vector& v) { asm("" : "+w"(v)); }
  /// Turns four rows into four columns: exchanges pairs of elements, then the halves.
  static void transpose(Vector (&v)[lanes]) {
    const auto wide = [](Vector x) { return vreinterpretq_f64_f32(x); };
    const float64x2_t even_low = wide(vtrn1q_f32(v[0], v[1]));
    const float64x2_t odd_low = wide(vtrn2q_f32(v[0], v[1]));
    const float64x2_t even_high = wide(vtrn1q_f32(v[2], v[3]));
    const float64x2_t odd_high = wide(vtrn2q_f32(v[2], v[3]));
    v[0] = vreinterpretq_f32_f64(vzip1q_f64(even_low, even_high));
    v[1] = vreinterpretq_f32_f64(vzip1q_f64(odd_low, odd_high));
    v[2] = vreinterpretq_f32_f64(vzip2q_f64(even_low, even_high));
    v[3] = vreinterpretq_f32_f64(vzip2q_f64(odd_low, odd_high));
  }
};

struct F64 {
  using T = double;
  using Vector = float64x2_t;
  static constexpr int lanes = 2;
  static constexpr int registers = 32;
  static constexpr int tile_m = 8;
  static constexpr int vectors = 3;
  static constexpr int complex_rows = 12;
  static constexpr bool prefetches_strips = true;
  static Vector zero() { return vdupq_n_f64(0.0); }
  static Vector one() { return vdupq_n_f64(1.0); }
  static Vector load(const T* x) { return vld1q_f64(x); }
  static Vector broadcast_once(const T* x) { return vld1q_dup_f64(x); }
  static Vector broadcast(const T* x) { return broadcast_once(x); }
  static Vector fma(Vector x, Vector y, Vector z) { return vfmaq_f64(z, x, y); }
  static Vector subtract_product(Vector x, Vector y, Vector z) { return vfmsq_f64(z, x, y); }
  static Vector add(Vector x, Vector y) { return vaddq_f64(x, y); }
  static void store(T* x, Vector v) { vst1q_f64(x, v); }
  static Vector load_unaligned(const T* x) { return vld1q_f64(x); }
  using Mask = int;
  static Mask mask(int count) { return count; }
  static void keep_mask(Mask& mask) { asm("" : "+r"(mask)); }
  static Vector load_part(const T* x, Mask count) {
    if (count >= lanes) return load(x);
    return count > 0 ? vld1q_lane_f64(x, zero(), 0) : zero();
  }
  static void store_part(T* x, Mask count, Vector v) {
    if (count >= lanes) return store(x, v);
    if (count > 0) vst1q_lane_f64(x, v, 0);
  }
  static void keep(Vector& v) { asm("" : "+w"(v)); }
  static void transpose(Vector (&v)[lanes]) {
    const Vector even = vzip1q_f64(v[0], v[1]);
    v[1] = vzip2q_f64(v[0], v[1]);
    v[0] = even;
  }
};

constexpr MicroKernel<float> c32 = ComplexBody<F32>::kernel(Isa::Neon);
constexpr MicroKernel<double> c64 = ComplexBody<F64>::kernel(Isa::Neon);
constexpr MicroKernel<float> f32 = MicroKernelBody<F32>::kernel(Isa::Neon, &c32);
constexpr MicroKernel<double> f64 = MicroKernelBody<F64>::kernel(Isa::Neon, &c64);

} // namespace

template <>
const MicroKernel<float>& neon_micro_kernel() {
  return f32;
}
template <>
const MicroKernel<double>& neon_micro_kernel() {
  return f64;
}

} // namespace tessera::cpu
