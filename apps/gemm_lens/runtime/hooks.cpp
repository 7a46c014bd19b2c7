/// The functions that code compiled with -fsanitize=thread and -fsanitize-coverage=trace-pc,trace-cmp calls. The names
/// and arguments are those of the compilers' run-time libraries.

#include <cstring>

#include "thread.hpp"

using tessera::lens::EventKind;
using tessera::lens::note;

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define TESSERA_LENS_ACCESS(bytes)                                                                                \
  void __tsan_read##bytes(void* at) { note(EventKind::Load, at, bytes, TESSERA_LENS_CALLER); }                    \
  void __tsan_write##bytes(void* at) { note(EventKind::Store, at, bytes, TESSERA_LENS_CALLER); }                  \
  void __tsan_unaligned_read##bytes(void* at) { note(EventKind::Load, at, bytes, TESSERA_LENS_CALLER); }          \
  void __tsan_unaligned_write##bytes(void* at) { note(EventKind::Store, at, bytes, TESSERA_LENS_CALLER); }        \
  void __tsan_volatile_read##bytes(void* at) { note(EventKind::Load, at, bytes, TESSERA_LENS_CALLER); }           \
  void __tsan_volatile_write##bytes(void* at) { note(EventKind::Store, at, bytes, TESSERA_LENS_CALLER); }         \
  void __tsan_unaligned_volatile_read##bytes(void* at) { note(EventKind::Load, at, bytes, TESSERA_LENS_CALLER); } \
  void __tsan_unaligned_volatile_write##bytes(void* at) { note(EventKind::Store, at, bytes, TESSERA_LENS_CALLER); }

TESSERA_LENS_ACCESS(1)
TESSERA_LENS_ACCESS(2)
TESSERA_LENS_ACCESS(4)
TESSERA_LENS_ACCESS(8)
TESSERA_LENS_ACCESS(16)

/// A GPU moves a larger object in accesses of 16, 8, 4, 2 or 1 bytes, as its alignment and its size allow.
void __tsan_read_range(void* at, unsigned long bytes) {
  const auto* byte = static_cast<const char*>(at);
  for (unsigned size = 16; size > 0; size /= 2)
    for (; bytes >= size && reinterpret_cast<std::uintptr_t>(byte) % size == 0; bytes -= size, byte += size)
      note(EventKind::Load, byte, size, TESSERA_LENS_CALLER);
}
void __tsan_write_range(void* at, unsigned long bytes) {
  const auto* byte = static_cast<const char*>(at);
  for (unsigned size = 16; size > 0; size /= 2)
    for (; bytes >= size && reinterpret_cast<std::uintptr_t>(byte) % size == 0; bytes -= size, byte += size)
      note(EventKind::Store, byte, size, TESSERA_LENS_CALLER);
}

void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

void __sanitizer_cov_trace_pc() { note(EventKind::Flow, nullptr, 0, TESSERA_LENS_CALLER); }

#define TESSERA_LENS_COMPARISON(name, type) \
  void __sanitizer_cov_trace_##name(type, type) { note(EventKind::Flow, nullptr, 0, TESSERA_LENS_CALLER); }

TESSERA_LENS_COMPARISON(cmp1, unsigned char)
TESSERA_LENS_COMPARISON(cmp2, unsigned short)
TESSERA_LENS_COMPARISON(cmp4, unsigned)
TESSERA_LENS_COMPARISON(cmp8, unsigned long)
TESSERA_LENS_COMPARISON(const_cmp1, unsigned char)
TESSERA_LENS_COMPARISON(const_cmp2, unsigned short)
TESSERA_LENS_COMPARISON(const_cmp4, unsigned)
TESSERA_LENS_COMPARISON(const_cmp8, unsigned long)
TESSERA_LENS_COMPARISON(cmpf, float)
TESSERA_LENS_COMPARISON(cmpd, double)
void __sanitizer_cov_trace_switch(unsigned long, void*) { note(EventKind::Flow, nullptr, 0, TESSERA_LENS_CALLER); }

// Calls of memcpy and its kin in a kernel, which the compiler may make of an assignment, are not instrumented.
}
