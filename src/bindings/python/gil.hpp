#pragma once

/// The GIL, and threads that the end of the interpreter overtakes.
///
/// When the interpreter ends, it stops every daemon thread that asks for the GIL. Until Python 3.13 it does so with
/// pthread_exit(), which unwinds the thread's stack. That may leave neither a destructor nor one of nanobind's
/// functions, which are noexcept: the process would abort. Nor may objects of Python be released on the way, because
/// the thread does not hold the GIL. So such a thread stays where it is until the process has ended, as it does since
/// Python 3.14.

#include <Python.h>
#include <cxxabi.h>
#include <unistd.h>

namespace tessera::python {

/// Keeps the calling thread until the process ends.
[[noreturn]] inline void stay_until_the_end() noexcept {
  for (;;) pause();
}

/// Calls a function of Python's interface that may run code of Python, during which other threads get the GIL: every
/// function that looks at an object of the caller, or calls it.
template <auto function, class... Arguments>
auto python_call(Arguments... arguments) {
  try {
    return function(arguments...);
  } catch (abi::__forced_unwind&) {
    stay_until_the_end();
  }
}

/// Releases the GIL while it exists: other threads of Python may run. No Python object may be used meanwhile.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  ~WithoutGil() { python_call<&PyEval_RestoreThread>(state_); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

} // namespace tessera::python
