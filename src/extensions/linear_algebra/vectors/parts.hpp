#pragma once

/// Loops on the host's threads, for matrices that are larger than a core's caches.

#include <tessera/types.hpp>

namespace tessera::vectors {

/// A loop that is shared out: body(context, begin, end) for parts of 0 … count − 1, in any order and on any thread.
struct PartsLoop {
  Index count;
  Index grain; ///< the fewest indices of a part
  void (*body)(const void* context, Index begin, Index end) noexcept;
  const void* context;
};
void run_parts(const PartsLoop& loop) noexcept;

/// The fewest bytes of a matrix that are worth a second thread's while.
inline constexpr Index shared_bytes = Index{1} << 20;

/// Calls body(begin, end) for parts of 0 … count − 1, on several threads if the matrix has so many bytes.
template <class Body>
void in_parts(Index bytes, Index count, Index grain, const Body& body) {
  if (bytes < shared_bytes || count < 2 * grain) return body(Index{0}, count);
  run_parts(
      {count, grain,
       [](const void* context, Index begin, Index end) noexcept { (*static_cast<const Body*>(context))(begin, end); },
       &body});
}

} // namespace tessera::vectors
