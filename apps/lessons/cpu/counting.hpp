#pragma once

/// Counts the accesses to memory of a lesson's kernel. The adapter is compiled with -fsanitize=thread, by which the
/// compiler calls a function before each load and store of memory that is not a local variable. The functions of the
/// race detector are not linked; these here answer. One thread runs.
///
/// The model of a cache has lines of 64 bytes in sets of eight, of which the oldest is replaced. A compiler keeps in
/// registers what was loaded a moment ago, but only after it has placed these calls: a load counts unless its address
/// is among the last 32 that were loaded.

#include <dlfcn.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <tessera/backend/kernel_abi.h>

#include "counts.hpp"

#define TESSERA_UNCOUNTED [[gnu::no_sanitize_thread, gnu::noinline]]

namespace tessera::lessons {

inline constexpr std::size_t registers = 32;
inline constexpr std::size_t line_bytes = 64, ways = 8, model_bytes = TESSERA_LESSON_CACHE_BYTES,
                             most_sets = model_bytes / (line_bytes * ways);

struct Counting {
  bool on = false;
  Counts counts;
  std::size_t sets = 1;
  std::uintptr_t lines[most_sets][ways]; ///< the newest first
  std::uintptr_t loaded[registers];      ///< addresses, the newest first
  struct Range {
    std::uintptr_t first, end;
    std::int64_t ld, cols, element;
  } operands[3];
};

inline Counting counting; // NOLINT: what the compiler calls has no other way to it

/// Puts `what` in front of a list of `size`, in place of itself or of the oldest. Returns whether it was there.
TESSERA_UNCOUNTED inline bool renew(std::uintptr_t* list, std::size_t size, std::uintptr_t what) {
  std::size_t at = 0;
  while (at < size - 1 && list[at] != what) ++at;
  const bool was_there = list[at] == what;
  for (; at > 0; --at) list[at] = list[at - 1];
  list[0] = what;
  return was_there;
}

TESSERA_UNCOUNTED inline void note_stray(int operand, std::int64_t offset, const void* from, bool store) {
  Counts& counts = counting.counts;
  if (counts.strays++ > 0) return;
  Dl_info library{};
  dladdr(from, &library);
  counts.stray_operand = operand;
  counts.stray_store = store;
  counts.stray_offset = static_cast<double>(offset);
  counts.stray_place =
      static_cast<double>(static_cast<const char*>(from) - static_cast<const char*>(library.dli_fbase));
}

TESSERA_UNCOUNTED inline void access(const void* address, std::size_t bytes, bool store, const void* from) {
  if (!counting.on) return;
  constexpr std::int64_t near = 128 << 10; // half a guard band of the judge, so that bands of two operands do not meet
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Counts& counts = counting.counts;
  bool of_c = false;
  for (int o = 0; o < 3; ++o) {
    const Counting::Range& operand = counting.operands[o];
    const std::int64_t offset = static_cast<std::int64_t>(at - operand.first);
    if (offset < -near || offset >= static_cast<std::int64_t>(operand.end - operand.first) + near) continue;
    const std::int64_t element = offset / operand.element;
    if (at < operand.first || at + bytes > operand.end || element % operand.ld >= operand.cols)
      note_stray(o, element, from, store);
    of_c = o == 2;
    break;
  }
  if (store) {
    counts.stores += 1;
    if (!of_c) counts.copies += 1;
  } else if (!renew(counting.loaded, registers, at)) {
    counts.loads += 1;
  }
  const std::uintptr_t line = at / line_bytes;
  if (!renew(counting.lines[line % counting.sets], ways, line)) counts.misses += 1;
}

TESSERA_UNCOUNTED inline void begin_counting(const tessera_kernel_call& x) {
  counting.counts = {};
  counting.sets = model_bytes / (line_bytes * ways);
  std::memset(counting.lines, 0, sizeof counting.lines);
  std::memset(counting.loaded, 0, sizeof counting.loaded);
  const std::int64_t element = x.type == TESSERA_KERNEL_F64 ? 8 : 4;
  const auto set = [&](int o, const void* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
    const auto first = reinterpret_cast<std::uintptr_t>(data);
    counting.operands[o] = {first, first + static_cast<std::uintptr_t>(((rows - 1) * ld + cols) * element), ld, cols,
                            element};
  };
  set(0, x.a, x.trans_a != 0 ? x.k : x.m, x.trans_a != 0 ? x.m : x.k, x.lda);
  set(1, x.b, x.trans_b != 0 ? x.n : x.k, x.trans_b != 0 ? x.k : x.n, x.ldb);
  set(2, x.c, x.m, x.n, x.ldc);
  counting.on = true;
}

/// Puts the counts where C was, which the judge reads. C has room for them: the shapes that are counted are large.
TESSERA_UNCOUNTED inline void end_counting(const tessera_kernel_call& x) {
  counting.on = false;
  std::memcpy(x.c, &counting.counts, sizeof counting.counts);
}

} // namespace tessera::lessons

#define TESSERA_COUNT(name, bytes, store)                                         \
  TESSERA_UNCOUNTED void name(void* address) {                                    \
    tessera::lessons::access(address, bytes, store, __builtin_return_address(0)); \
  }
#define TESSERA_COUNT_SIZE(bytes)                           \
  TESSERA_COUNT(__tsan_read##bytes, bytes, false)           \
  TESSERA_COUNT(__tsan_write##bytes, bytes, true)           \
  TESSERA_COUNT(__tsan_unaligned_read##bytes, bytes, false) \
  TESSERA_COUNT(__tsan_unaligned_write##bytes, bytes, true)

extern "C" {
TESSERA_COUNT_SIZE(1)
TESSERA_COUNT_SIZE(2)
TESSERA_COUNT_SIZE(4)
TESSERA_COUNT_SIZE(8)
TESSERA_COUNT_SIZE(16)
TESSERA_UNCOUNTED void __tsan_read_range(void* address, std::size_t bytes) {
  tessera::lessons::access(address, bytes, false, __builtin_return_address(0));
}
TESSERA_UNCOUNTED void __tsan_write_range(void* address, std::size_t bytes) {
  tessera::lessons::access(address, bytes, true, __builtin_return_address(0));
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
