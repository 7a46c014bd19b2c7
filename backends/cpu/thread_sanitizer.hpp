#pragma once

/// Tells ThreadSanitizer how a loop's threads wait for each other. The runtimes are not instrumented: it sees neither
/// libgomp's barriers nor, without this, that the workers begin after the caller and end before it goes on.

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace tessera::cpu {

/// What this thread has done so far happens before what other threads do after after_others(place).
inline void before_others([[maybe_unused]] void* place) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(place);
#endif
}

inline void after_others([[maybe_unused]] void* place) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(place);
#endif
}

} // namespace tessera::cpu
