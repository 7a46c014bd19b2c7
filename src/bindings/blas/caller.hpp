#pragma once

/// The integers of a caller. The standard's names are the same in a BLAS of 32-bit integers and in one of 64-bit
/// integers (Debian's libblas64 and libopenblas64, MKL's ILP64), so that programs of either kind call libtessera_blas
/// where it is loaded first. A wrong guess would read garbage; so the library asks the BLAS that the caller is linked
/// with, once for each caller.

#include <atomic>
#include <cstdint>

#include <tessera/types.hpp>

#include "symbols.hpp"

namespace tessera::blas {

enum class Width { Unknown, Narrow, Wide };

#if defined(TESSERA_BLAS_64) // the names with a suffix have 64-bit integers everywhere
inline bool has_wide_integers(const Routine&) { return true; }
inline Width width_of_library_at(const void*) { return Width::Wide; }
#else
/// The addresses of the program itself, once it has called. It is never unloaded, so that it is asked about once; what
/// stands at an address of a library has to be looked up in each call.
struct KnownProgram {
  std::atomic<std::uintptr_t> begin = 0, size = 0; ///< the size is written last
  std::atomic<bool> is_wide = false;

  bool has(const void* address) const {
    const std::uintptr_t bytes = size.load(std::memory_order_acquire);
    return reinterpret_cast<std::uintptr_t>(address) - begin.load(std::memory_order_relaxed) < bytes;
  }
};
inline KnownProgram known_program;
/// What has_wide_integers() says, of any caller.
bool finds_wide_integers(const Routine& routine);
/// Does the caller pass 64-bit integers? A caller that is linked with no other BLAS, in a process that has none, passes
/// the 32-bit integers that the library promises. Where the process has both kinds and nothing says which one the
/// caller uses, the function prints that and ends the process.
inline bool has_wide_integers(const Routine& routine) {
  if (known_program.has(routine.caller)) [[likely]]
    return known_program.is_wide.load(std::memory_order_relaxed);
  return finds_wide_integers(routine);
}
/// Returns the width of the integers of the library that has the BLAS function.
Width width_of_library_at(const void* function);
#endif

/// Integers as a caller passes them.
class Integers {
 public:
  explicit Integers(const Routine& routine) : wide_(has_wide_integers(routine)) {}

  Index operator()(blas_word value) const { return wide_ ? value : static_cast<std::int32_t>(value); }
  Index operator()(const blas_int* address) const { return at(address, 0); }
  Index at(const blas_int* array, Index i) const {
    if (wide_) return reinterpret_cast<const std::int64_t*>(array)[i];
    return reinterpret_cast<const std::int32_t*>(array)[i];
  }
  void set(blas_int* address, Index value) const {
    if (wide_)
      *reinterpret_cast<std::int64_t*>(address) = value;
    else
      *reinterpret_cast<std::int32_t*>(address) = static_cast<std::int32_t>(value);
  }
  bool are_wide() const { return wide_; }

 private:
  bool wide_;
};

} // namespace tessera::blas
