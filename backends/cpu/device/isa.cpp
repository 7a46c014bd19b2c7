#include "isa.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::cpu {
namespace {

#if defined(__x86_64__)
constexpr std::array known{Isa::Portable, Isa::Avx2, Isa::Avx512};

struct CpuidRegisters {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

CpuidRegisters cpuid(unsigned leaf) {
  CpuidRegisters r;
  if (__get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx) == 0) return {};
  return r;
}

/// Reads extended control register 0, whose bits say which register files the operating system saves.
unsigned xcr0() {
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr bool bit(unsigned word, int position) { return ((word >> position) & 1u) != 0; }
#elif defined(__aarch64__)
constexpr std::array known{Isa::Portable, Isa::Neon};
#else
constexpr std::array known{Isa::Portable};
#endif

bool look_for_two_wide_vector_units() noexcept {
#if defined(__x86_64__)
  constexpr unsigned amd = 0x68747541; // "Auth" of "AuthenticAMD"
  constexpr unsigned zen5 = 0x1a;
  const unsigned version = cpuid(1).eax;
  const unsigned family = ((version >> 8) & 0xfu) + ((version >> 20) & 0xffu);
  return cpuid(0).ebx != amd || family >= zen5;
#else
  return false;
#endif
}

const char* look_for_amx() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long ask_for_state = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long tile_data = 18;         // the number of the tiles' data among the register files
  const CpuidRegisters extended = cpuid(7);
  if (!bit(extended.edx, 24) || !bit(extended.edx, 22) || !bit(extended.ebx, 30)) // AMX-TILE, AMX-BF16, AVX512BW
    return "this processor has no AMX tiles for bf16; use math mode strict";
  if (!bit(cpuid(1).ecx, 27) || (xcr0() & 0x60000) != 0x60000) // the tiles' shapes and data
    return "the operating system does not save AMX's registers; use math mode strict";
  if (syscall(SYS_arch_prctl, ask_for_state, tile_data) != 0)
    return "the kernel does not grant this process AMX's registers (arch_prctl); use math mode strict";
  return nullptr;
#else
  return "AMX is there on x86-64 under Linux alone; use math mode strict";
#endif
}

} // namespace

const char* to_string(Isa isa) noexcept {
  switch (isa) {
    case Isa::Portable:
      return "portable";
    case Isa::Avx2:
      return "avx2";
    case Isa::Avx512:
      return "avx512";
    case Isa::Neon:
      return "neon";
  }
  return "unknown";
}

std::span<const Isa> known_isas() noexcept { return known; }

Isa detect_isa() noexcept {
#if defined(__x86_64__)
  const CpuidRegisters basic = cpuid(1);
  const bool os_uses_xsave = bit(basic.ecx, 27);
  if (!os_uses_xsave) return Isa::Portable;
  const unsigned saved = xcr0();
  const bool saves_ymm = (saved & 0x06) == 0x06; // XMM, upper halves of YMM
  const bool saves_zmm = (saved & 0xe6) == 0xe6; // also masks, upper halves of ZMM, ZMM16 to 31
  const CpuidRegisters extended = cpuid(7);
  const bool has_avx2 = bit(basic.ecx, 28) && bit(basic.ecx, 12) && bit(extended.ebx, 5); // AVX, FMA, AVX2
  const bool has_avx512 = bit(extended.ebx, 16) && bit(extended.ebx, 31);                 // AVX-512 F, VL
  if (!has_avx2 || !saves_ymm) return Isa::Portable;
  return has_avx512 && saves_zmm ? Isa::Avx512 : Isa::Avx2;
#elif defined(__aarch64__) && defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMD) != 0 ? Isa::Neon : Isa::Portable;
#else
  return Isa::Portable;
#endif
}

Status choose_isa(Isa& isa) {
  isa = detect_isa();
  const char* word = std::getenv("TESSERA_CPU_ISA");
  if (word == nullptr || *word == '\0') return {};
  std::vector<std::string> words;
  for (const Isa candidate : known) {
    words.emplace_back(to_string(candidate));
    if (words.back() != word) continue;
    if (candidate > isa)
      return Status::failure(StatusCode::InvalidArgument, std::string("TESSERA_CPU_ISA = '") + word +
                                                              "', but this machine has no more than '" +
                                                              to_string(isa) + "'; set that, or unset the variable");
    isa = candidate;
    return {};
  }
  std::string list;
  for (const std::string& one : words) list += (list.empty() ? "" : ", ") + one;
  return Status::failure(StatusCode::InvalidArgument, std::string("TESSERA_CPU_ISA = '") + word +
                                                          "' is not an instruction set (" + list + "); did you mean '" +
                                                          nearest_word(word, words) + "'?");
}

bool has_two_wide_vector_units(Isa isa) noexcept {
  static const bool has = look_for_two_wide_vector_units();
  return isa == Isa::Avx512 && has;
}

const char* why_no_amx() noexcept {
  static const char* const why = look_for_amx();
  return why;
}

bool has_int8_tiles() noexcept {
#if defined(__x86_64__)
  static const bool has = bit(cpuid(7).edx, 25); // AMX-INT8
  return has && why_no_amx() == nullptr;
#else
  return false;
#endif
}

bool has_vnni() noexcept {
#if defined(__x86_64__)
  static const bool has = bit(cpuid(7).ecx, 11) && bit(cpuid(7).ebx, 30); // AVX512_VNNI, AVX512BW
  return has;
#else
  return false;
#endif
}

} // namespace tessera::cpu
