#pragma once

/// Which vector instructions this processor and its operating system offer.

#include <span>

#include <tessera/status.hpp>

namespace tessera::cpu {

enum class Isa : int {
  Portable = 0, ///< plain C++
  Avx2 = 1,     ///< AVX2 and FMA
  Avx512 = 2,   ///< AVX-512 F and VL
  Neon = 3,     ///< AArch64's vectors of 128 bits
};

const char* to_string(Isa isa) noexcept;

/// Those that the processors we are compiled for may have, in ascending order: each one includes those before it.
std::span<const Isa> known_isas() noexcept;

/// The best one. x86-64: from CPUID's feature bits; the operating system must save the registers (XGETBV). AArch64:
/// what the kernel says (getauxval).
Isa detect_isa() noexcept;

/// detect_isa(), capped by the environment variable TESSERA_CPU_ISA = portable | avx2 | avx512, or
/// portable | neon.
/// InvalidArgument if the word is unknown or the machine lacks what it names.
Status choose_isa(Isa& isa);

/// Whether two multiply-adds of 512 bits begin each cycle: Intel's processors, AMD's from Zen 5 on. The caches are as
/// wide as elsewhere, so that operands should come from nearer.
bool has_two_wide_units(Isa isa) noexcept;

/// Null if this process may use AMX's tiles on bf16, else what is missing. The first call asks the kernel for them:
/// Linux keeps their 8 KiB of registers from programs that have not asked (arch_prctl, ARCH_REQ_XCOMP_PERM).
const char* why_no_amx() noexcept;

} // namespace tessera::cpu
