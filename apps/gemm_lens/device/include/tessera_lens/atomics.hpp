#pragma once

/// Atomic operations, which the lens counts, and loads and stores with words for the caches, which it counts as others.
/// Threads run one after another, so that nothing has to be atomic.

#include "runtime.hpp"

namespace tessera::lens {
template <class T, class F>
__attribute__((no_sanitize("thread"))) T update(T* at, F f) {
  const T old = *at;
  *at = f(old);
  return old;
}
} // namespace tessera::lens

#define TESSERA_LENS_ATOMIC(name, expression)                                                \
  template <class T, class V>                                                                \
  __attribute__((always_inline)) inline T name(T* at, V given) {                             \
    const T value = static_cast<T>(given);                                                   \
    tessera::lens::note_atomic(at, sizeof(T));                                               \
    return tessera::lens::update(at, [value](T old) { return static_cast<T>(expression); }); \
  }
TESSERA_LENS_ATOMIC(atomicAdd, old + value)
TESSERA_LENS_ATOMIC(atomicSub, old - value)
TESSERA_LENS_ATOMIC(atomicExch, ((void)old, value))
TESSERA_LENS_ATOMIC(atomicMin, value < old ? value : old)
TESSERA_LENS_ATOMIC(atomicMax, old < value ? value : old)
TESSERA_LENS_ATOMIC(atomicAnd, old& value)
TESSERA_LENS_ATOMIC(atomicOr, old | value)
TESSERA_LENS_ATOMIC(atomicXor, old ^ value)
template <class T, class V, class W>
__attribute__((always_inline)) inline T atomicCAS(T* at, V expected, W value) {
  tessera::lens::note_atomic(at, sizeof(T));
  return tessera::lens::update(at,
                               [=](T old) { return old == static_cast<T>(expected) ? static_cast<T>(value) : old; });
}

#define TESSERA_LENS_LOAD(name)                               \
  template <class T>                                          \
  __attribute__((always_inline)) inline T name(const T* at) { \
    return *at;                                               \
  }
TESSERA_LENS_LOAD(__ldg)
TESSERA_LENS_LOAD(__ldca)
TESSERA_LENS_LOAD(__ldcg)
TESSERA_LENS_LOAD(__ldcs)
TESSERA_LENS_LOAD(__ldlu)
TESSERA_LENS_LOAD(__ldcv)
#define TESSERA_LENS_STORE(name)                                    \
  template <class T, class V>                                       \
  __attribute__((always_inline)) inline void name(T* at, V value) { \
    *at = value;                                                    \
  }
TESSERA_LENS_STORE(__stcg)
TESSERA_LENS_STORE(__stcs)
TESSERA_LENS_STORE(__stwb)
TESSERA_LENS_STORE(__stwt)

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
inline void __nanosleep(unsigned) {}
inline long long clock64() { return 0; } // the lens has no clock of a GPU
