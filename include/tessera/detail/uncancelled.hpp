#pragma once

/// Keeps a thread whole over pthread_cancel(): the library's functions, the runtimes of threads below them and the
/// drivers of devices cannot be left in the middle, and an exit through a function that is noexcept ends the process.

#include <pthread.h>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// While an object of this class lives, a request to cancel its thread waits. The thread ends at the first cancellation
/// point after the object's end. Objects may nest.
class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
