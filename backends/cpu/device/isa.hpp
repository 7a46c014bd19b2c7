#pragma once

/// The vector instructions that this processor and its operating system offer.

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

/// Returns the instruction sets that processors of this architecture may have, in ascending order. Each one includes
/// the sets before it.
std::span<const Isa> known_isas() noexcept;

/// Returns the best instruction set of this machine. On x86-64 CPUID's feature bits tell it, and the operating system
/// must save the registers (XGETBV). On AArch64 the kernel tells it (getauxval).
Isa detect_isa() noexcept;

/// Sets `isa` to detect_isa(), or to the lesser set that the environment variable TESSERA_CPU_ISA names: portable,
/// avx2, avx512, or portable, neon. Returns InvalidArgument if the word is unknown or the machine lacks the set.
Status choose_isa(Isa& isa);

/// Says whether two multiply-adds of 512 bits begin in each cycle: on Intel's processors, and on AMD's from Zen 5 on.
/// The caches of these processors are no wider than others', so operands should come from a nearer cache.
bool has_two_wide_vector_units(Isa isa) noexcept;

/// Returns null if this process may use AMX's tiles on bf16, else what is missing. The first call asks the kernel for
/// the tiles: Linux keeps their 8 KiB of registers from programs that have not asked (arch_prctl, ARCH_REQ_XCOMP_PERM).
const char* why_no_amx() noexcept;
/// May this process use AMX's tiles on bytes?
bool has_int8_tiles() noexcept;

/// Does the processor multiply vectors of bytes (AVX-512 VNNI)? It has AVX-512 F.
bool has_vnni() noexcept;

} // namespace tessera::cpu
