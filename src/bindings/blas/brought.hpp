#pragma once

/// The libraries that the process has only because a LAPACK was loaded for the wheels: it and its own BLAS. They say
/// nothing about the integers of the process's other callers (caller.hpp).

#include <link.h>
#include <mutex>
#include <string>
#include <vector>

#include "symbols.hpp"

extern "C" {

/// Did the library come with the LAPACK of libtessera_blas, or of libtessera_blas64? `library` is its path. Each of the
/// two exports the function, because the other one has to know.
TESSERA_BLAS_API int tessera_blas_brought(const char* library);
TESSERA_BLAS_API int tessera_blas_brought64_(const char* library);
}

namespace tessera::blas {

/// Stands where a LAPACK is loaded. Threads that ask meanwhile what came with it wait for the end.
class Bringing {
 public:
  Bringing();
  /// Remembers the LAPACK and what it needs, except for libraries that were there before.
  void remember(const link_map& lapack) const;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  std::vector<std::string> before_;
};

/// Did the library come with a LAPACK, of this library or of the other one?
bool came_with_lapack(const char* library);

} // namespace tessera::blas
