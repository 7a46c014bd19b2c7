#pragma once

/// Numbers that travel through global memory from one block of threads to another. Memory that is all zeros is letters
/// that have not come. A letter is written in words of 64 bits, each of which is a mark and half a number, or a whole
/// one of f32: so a word that has its mark is the writer's, without a fence.

#include <cstdint>

namespace tessera::cuda {

template <class T>
class Letter;

template <>
class alignas(8) Letter<float> {
 public:
  Letter() = default;
  __device__ explicit Letter(float x) {
    number_ = __float_as_uint(x);
    mark_ = 1;
  }
  __device__ bool has_come() const { return mark_ != 0; }
  __device__ float number() const { return __uint_as_float(number_); }

 private:
  friend __device__ Letter<float> read(const Letter<float>* from);
  friend __device__ void write(Letter<float>* to, Letter<float> letter);

  unsigned number_, mark_;
};

__device__ __forceinline__ Letter<float> read(const Letter<float>* from) {
  std::uint64_t word;
  asm volatile("ld.relaxed.gpu.global.b64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  Letter<float> letter;
  letter.number_ = static_cast<unsigned>(word);
  letter.mark_ = static_cast<unsigned>(word >> 32);
  return letter;
}
__device__ __forceinline__ void write(Letter<float>* to, Letter<float> letter) {
  const std::uint64_t word = static_cast<std::uint64_t>(letter.mark_) << 32 | letter.number_;
  asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

template <>
class alignas(16) Letter<double> {
 public:
  Letter() = default;
  __device__ explicit Letter(double x) {
    low_ = marked(__double2loint(x));
    high_ = marked(__double2hiint(x));
  }
  __device__ bool has_come() const { return low_ >> 32 != 0 && high_ >> 32 != 0; }
  __device__ double number() const { return __hiloint2double(static_cast<int>(high_), static_cast<int>(low_)); }

 private:
  friend __device__ Letter<double> read(const Letter<double>* from);
  friend __device__ void write(Letter<double>* to, Letter<double> letter);
  static __device__ std::uint64_t marked(int half) { return std::uint64_t{1} << 32 | static_cast<unsigned>(half); }

  std::uint64_t low_, high_;
};

__device__ __forceinline__ Letter<double> read(const Letter<double>* from) {
  Letter<double> letter;
  asm volatile("ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];"
               : "=l"(letter.low_), "=l"(letter.high_)
               : "l"(from)
               : "memory");
  return letter;
}
__device__ __forceinline__ void write(Letter<double>* to, Letter<double> letter) {
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(letter.low_), "l"(letter.high_)
               : "memory");
}

} // namespace tessera::cuda
