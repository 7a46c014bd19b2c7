#pragma once

/// The floating-point state in which the library computes, whatever the state of the thread that calls it;
/// docs/contract.md says what holds. Each function that computes makes a ContractArithmetic on its own thread: the
/// entry points of the library on the caller's, and the body of each parallel loop on the worker's. A worker's state is
/// the one of the thread that made the worker, which may have changed its own since then.

#include <bit>
#include <complex>
#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <cfenv>
#endif

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// The registers that control the arithmetic of float and double in one thread, and hold the flags that it raises.
/// x86's control word of the x87 is not among them, because the library has no arithmetic of long double.
#if defined(__x86_64__)

struct FloatingPointState {
  std::uint32_t mxcsr;

  static constexpr std::uint32_t flags = 0x3F;
  static constexpr std::uint32_t contract = 0x1F80; ///< to nearest, no FTZ, no DAZ, every exception masked

  [[gnu::always_inline]] static FloatingPointState read() noexcept {
    FloatingPointState state;
    asm volatile("stmxcsr %0" : "=m"(state.mxcsr) : : "memory");
    return state;
  }
  [[gnu::always_inline]] void write() const noexcept { asm volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory"); }
  [[gnu::always_inline]] static void write_contract() noexcept { FloatingPointState{contract}.write(); }
  [[gnu::always_inline]] void restore() const noexcept { write(); } // as cheap as to ask whether it must be
  bool keeps_contract() const noexcept { return (mxcsr & ~flags) == contract; }
  bool operator==(const FloatingPointState&) const = default;
};

#elif defined(__aarch64__)

struct FloatingPointState {
  std::uint64_t fpcr; ///< control; 0 is to nearest, no flushing, NaN as in the operands, no traps
  std::uint64_t fpsr; ///< flags

  [[gnu::always_inline]] static FloatingPointState read() noexcept {
    FloatingPointState state;
    asm volatile("mrs %0, fpcr" : "=r"(state.fpcr) : : "memory");
    asm volatile("mrs %0, fpsr" : "=r"(state.fpsr) : : "memory");
    return state;
  }
  [[gnu::always_inline]] void write() const noexcept {
    asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory");
    asm volatile("msr fpsr, %0" : : "r"(fpsr) : "memory");
  }
  [[gnu::always_inline]] static void write_contract() noexcept {
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}) : "memory");
  }
  [[gnu::always_inline]] void restore() const noexcept {
    if (!keeps_contract()) asm volatile("msr fpcr, %0" : : "r"(fpcr) : "memory");
    asm volatile("msr fpsr, %0" : : "r"(fpsr) : "memory");
  }
  bool keeps_contract() const noexcept { return fpcr == 0; }
  bool operator==(const FloatingPointState&) const = default;
};

#else

struct FloatingPointState {
  std::fenv_t environment;

  static FloatingPointState read() noexcept {
    FloatingPointState state;
    std::fegetenv(&state.environment);
    return state;
  }
  void write() const noexcept { std::fesetenv(&environment); }
  static void write_contract() noexcept { std::fesetenv(FE_DFL_ENV); }
  void restore() const noexcept { write(); }
  bool keeps_contract() const noexcept { return false; } // an fenv_t cannot be looked into
  bool operator==(const FloatingPointState&) const { return false; }
};

#endif

/// While an object of this class lives, its thread computes in the contract's state. Then the thread has the state back
/// that it had before, with its flags. Objects may nest. Where the state is right already, only the flags are
/// written.
///
/// The compiler moves no access to memory across the object's beginning and end, but it does not know that arithmetic
/// on registers depends on them. Arguments should therefore come from memory or go to a function that is not inlined.
class ContractArithmetic {
 public:
  [[gnu::always_inline]] ContractArithmetic() noexcept : callers_(FloatingPointState::read()) {
    if (!callers_.keeps_contract()) [[unlikely]]
      FloatingPointState::write_contract();
  }
  [[gnu::always_inline]] ~ContractArithmetic() { callers_.restore(); }
  ContractArithmetic(const ContractArithmetic&) = delete;
  ContractArithmetic& operator=(const ContractArithmetic&) = delete;

 private:
  const FloatingPointState callers_;
};

/// Widens a number exactly in every floating-point state. The instruction for it takes a subnormal number for zero
/// where the state says so, and these functions run in the caller's code. NaN stays NaN.
constexpr double exact_double(double x) noexcept { return x; }
constexpr double exact_double(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  const std::uint64_t sign = std::uint64_t{bits >> 31} << 63;
  std::uint64_t wide = (std::uint64_t{magnitude} << 29) + (std::uint64_t{896} << 52);       // of a normal number
  if (magnitude >= 0x7F800000u) wide = std::uint64_t{magnitude} << 29 | 0x7FF0000000000000; // Inf and NaN
  if (magnitude < 0x00800000u) {
    if (magnitude == 0) return std::bit_cast<double>(sign);
    const int shift = std::countl_zero(magnitude) - 8; // to the place of a normal number's leading digit
    wide = (std::uint64_t{magnitude} << (29 + shift)) + (static_cast<std::uint64_t>(896 - shift) << 52);
  }
  return std::bit_cast<double>(sign | wide);
}
template <class T>
constexpr std::complex<double> exact_double(const std::complex<T>& x) noexcept {
  return {exact_double(x.real()), exact_double(x.imag())};
}

/// Is the number 0 in every floating-point state? A comparison takes a subnormal number for 0 where the state says so.
constexpr bool is_exact_zero(double x) noexcept { return std::bit_cast<std::uint64_t>(x) << 1 == 0; }
constexpr bool is_exact_zero(float x) noexcept { return std::bit_cast<std::uint32_t>(x) << 1 == 0; }
template <class T>
constexpr bool is_exact_zero(const std::complex<T>& x) noexcept {
  return is_exact_zero(x.real()) && is_exact_zero(x.imag());
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
