/// The functions that code compiled with -fsanitize=thread calls in place of atomic instructions. Device code comes
/// here by atomicAdd() and its kin; the host's by std::atomic and by objects that are made at their first use.

#include "thread.hpp"

using tessera::lens::EventKind;
using tessera::lens::note;

extern "C" {

#define TESSERA_LENS_NOTE(type) note(EventKind::Atomic, const_cast<type*>(at), sizeof(type), TESSERA_LENS_CALLER)
#define TESSERA_LENS_FETCH(bits, type, operation)                                    \
  type __tsan_atomic##bits##_fetch_##operation(volatile type* at, type value, int) { \
    TESSERA_LENS_NOTE(type);                                                         \
    return __atomic_fetch_##operation(at, value, __ATOMIC_SEQ_CST);                  \
  }
#define TESSERA_LENS_ATOMIC(bits, type)                                                                           \
  type __tsan_atomic##bits##_load(const volatile type* at, int) { return __atomic_load_n(at, __ATOMIC_SEQ_CST); } \
  void __tsan_atomic##bits##_store(volatile type* at, type value, int) {                                          \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                \
  }                                                                                                               \
  type __tsan_atomic##bits##_exchange(volatile type* at, type value, int) {                                       \
    TESSERA_LENS_NOTE(type);                                                                                      \
    return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                               \
  TESSERA_LENS_FETCH(bits, type, add)                                                                             \
  TESSERA_LENS_FETCH(bits, type, sub)                                                                             \
  TESSERA_LENS_FETCH(bits, type, and)                                                                             \
  TESSERA_LENS_FETCH(bits, type, or)                                                                              \
  TESSERA_LENS_FETCH(bits, type, xor)                                                                             \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile type* at, type* expected, type value, int, int) {    \
    TESSERA_LENS_NOTE(type);                                                                                      \
    return __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
  }                                                                                                               \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile type* at, type* expected, type value, int, int) {      \
    TESSERA_LENS_NOTE(type);                                                                                      \
    return __atomic_compare_exchange_n(at, expected, value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
  }

TESSERA_LENS_ATOMIC(8, unsigned char)
TESSERA_LENS_ATOMIC(16, unsigned short)
TESSERA_LENS_ATOMIC(32, unsigned)
TESSERA_LENS_ATOMIC(64, unsigned long)
void __tsan_atomic_thread_fence(int) {}
void __tsan_atomic_signal_fence(int) {}
}
