#pragma once

/// What the routines of levels 1 and 2 share: numbers, vectors, and factors as the two interfaces pass them.

#include <type_traits>

#include "bindings/blas/caller.hpp"
#include "bindings/blas/solve.hpp"
#include "bindings/blas/symbols.hpp"
#include "extensions/linear_algebra/vectors/strided.hpp"

namespace tessera::blas {

using ComplexFloat = ComplexNumber<float>; ///< passed and returned as C's float complex is
using ComplexDouble = ComplexNumber<double>;
static_assert(sizeof(ComplexFloat) == 8 && sizeof(ComplexDouble) == 16, "the parts lie side by side");

using vectors::parts_of;
using vectors::RealOf;
using vectors::stored;
using vectors::Strided;

/// A factor as the CBLAS passes it: a real one by value, a complex one by address.
template <class N>
using ByValue = std::conditional_t<vectors::has_two_parts<N>, const N*, N>;
inline float value_of(float x) { return x; }
inline double value_of(double x) { return x; }
template <class R>
ComplexNumber<R> value_of(const ComplexNumber<R>* x) {
  return *x;
}

/// Integers of one call.
class Arguments {
 public:
  explicit Arguments(const Routine& routine) : value_(routine), routine_(routine) {}

  template <class Word>
  Index operator()(const Word& word) const {
    return value_(word);
  }
  /// Returns the size of the vectors, and begins the call with it.
  template <class Word>
  Index size(const Word& word) const {
    const Index n = value_(word);
    begin_routine(routine_, {n, 1});
    return n;
  }

 private:
  Integers value_;
  const Routine& routine_;
};

/// Exports a routine under its two names. `call` is its body, which knows `routine` and the arguments.
#define TESSERA_BLAS_EXPORT(result, name, arguments, call)                    \
  TESSERA_BLAS_API result TESSERA_BLAS_NAME(name) arguments {                 \
    const tessera::blas::Routine routine = TESSERA_BLAS_ROUTINE(#name, name); \
    return call;                                                              \
  }                                                                           \
  TESSERA_BLAS_SCIPY_NAME(name);

/// Exports a routine whose interfaces differ in their integers alone: arguments(I, N) is the list for integers I.
#define TESSERA_BLAS_BOTH(result, name, arguments, N, call)                 \
  TESSERA_BLAS_EXPORT(result, name##_, arguments(const blas_int*, N), call) \
  TESSERA_BLAS_EXPORT(result, cblas_##name, arguments(blas_word, N), call)

} // namespace tessera::blas
