#include "floating_state.hpp"

#include <cfenv>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera::judge {

#if defined(__x86_64__)
namespace {
constexpr std::uint64_t flags = 0x3f; // what happened so far, which every product may change
constexpr std::uint64_t denormals_are_zero = 1U << 6, traps_masked = 0x3fU << 7, rounding = 3U << 13;
constexpr std::uint64_t flush_to_zero = 1U << 15;
} // namespace

FloatingState FloatingState::now() {
  std::uint16_t control = 0;
  asm volatile("fnstcw %0" : "=m"(control));
  return {_mm_getcsr() & ~flags, control};
}

void FloatingState::restore() const {
  const auto control = static_cast<std::uint16_t>(x87);
  asm volatile("fnclex\n\tfldcw %0" : : "m"(control));
  _mm_setcsr(static_cast<unsigned>(vector));
}

std::string describe_change(const FloatingState& before, const FloatingState& after) {
  const std::uint64_t changed = before.vector ^ after.vector;
  std::string said;
  const auto add = [&](const char* words) { said += said.empty() ? words : std::string(" and ") + words; };
  if ((changed & flush_to_zero) != 0) add("FTZ (results that are subnormal become 0)");
  if ((changed & denormals_are_zero) != 0) add("DAZ (operands that are subnormal count as 0)");
  if ((changed & rounding) != 0) add("the rounding mode");
  if ((changed & traps_masked) != 0) add("which exceptions trap");
  if (before.x87 != after.x87) add("the x87 control word");
  return said;
}

#elif defined(__aarch64__)

FloatingState FloatingState::now() {
  std::uint64_t control = 0;
  asm volatile("mrs %0, fpcr" : "=r"(control));
  return {control, 0};
}

void FloatingState::restore() const { asm volatile("msr fpcr, %0" : : "r"(vector)); }

std::string describe_change(const FloatingState& before, const FloatingState& after) {
  constexpr std::uint64_t flush_to_zero = 1U << 24, rounding = 3U << 22;
  const std::uint64_t changed = before.vector ^ after.vector;
  std::string said;
  if ((changed & flush_to_zero) != 0) said = "FZ (subnormal numbers become 0)";
  if ((changed & rounding) != 0) said += said.empty() ? "the rounding mode" : " and the rounding mode";
  return said.empty() ? "FPCR" : said;
}

#else

FloatingState FloatingState::now() { return {static_cast<std::uint64_t>(std::fegetround()), 0}; }
void FloatingState::restore() const { std::fesetround(static_cast<int>(vector)); }
std::string describe_change(const FloatingState&, const FloatingState&) { return "the rounding mode"; }

#endif

} // namespace tessera::judge
