#include "cpu/amx.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tessera::cpu {
namespace {

const char* look() noexcept {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long ask_for_state = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long tile_data = 18;         // its number among the register files
  constexpr unsigned tiles = 1u << 24, bf16 = 1u << 22, saves_tiles = 3u << 17, uses_xsave = 1u << 27;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0 || (edx & tiles) == 0 || (edx & bf16) == 0)
    return "this processor has no AMX tiles for bf16; use math mode strict";
  unsigned basic = 0;
  if (__get_cpuid(1, &eax, &ebx, &basic, &edx) == 0 || (basic & uses_xsave) == 0)
    return "the operating system does not save AMX's registers; use math mode strict";
  unsigned low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & saves_tiles) != saves_tiles)
    return "the operating system does not save AMX's registers; use math mode strict";
  if (syscall(SYS_arch_prctl, ask_for_state, tile_data) != 0)
    return "the kernel does not grant this process AMX's registers (arch_prctl); use math mode strict";
  return nullptr;
#else
  return "AMX is there on x86-64 under Linux alone; use math mode strict";
#endif
}

} // namespace

const char* why_no_amx() noexcept {
  static const char* const why = look();
  return why;
}

} // namespace tessera::cpu
