#pragma once

/// A call of level 2 in either interface, as the column-major routine of Fortran sees it: how it is refused, and what
/// its words mean. A row-major matrix is the column-major one of its transpose.

#include <cstring>
#include <initializer_list>
#include <optional>
#include <tuple>

#include "bindings/blas/cblas_call.hpp"
#include "bindings/blas/level1/vectors.hpp"
#include "extensions/linear_algebra/vectors/columns.hpp"

namespace tessera::blas {

using vectors::Columns;
using vectors::Form;
using vectors::Half;
using vectors::OnDiagonal;

/// An argument, by the position at which Fortran counts it.
struct Check {
  bool is_wrong;
  int position;
};
inline int first_wrong(std::initializer_list<Check> checks) {
  for (const Check& check : checks)
    if (check.is_wrong) return check.position;
  return 0;
}
inline bool is_short(Index ld, Index length) { return ld < std::max<Index>(1, length); }

/// A call in Fortran's interface. `arguments` are what the caller passed, with the lengths of letters at the end.
template <class... Arguments>
class FortranCall {
 public:
  explicit FortranCall(const Routine& routine, Arguments... arguments)
      : routine_(routine), value_(routine), arguments_(arguments...) {}

  Index value(const blas_int* word) const { return value_(word); }
  const Routine& routine() const { return routine_; }
  /// Refuses the call where an argument is wrong.
  bool refuses(std::initializer_list<Check> checks) const {
    const int wrong = first_wrong(checks);
    if (wrong == 0) return false;
    if (!std::apply([&](auto... arguments) { return hand_on(routine_, arguments...); }, arguments_))
      report_fortran(routine_, wrong);
    return true;
  }

 private:
  const Routine& routine_;
  Integers value_;
  std::tuple<Arguments...> arguments_;
};

/// A call in C's interface.
template <class... Arguments>
class MatrixCall : public CblasCall<Arguments...> {
 public:
  using CblasCall<Arguments...>::CblasCall;

  /// The triangle and the form of the column-major matrix.
  Half half(int uplo) const { return (uplo == lower) != this->is_by_rows() ? Half::Lower : Half::Upper; }
  Form form(int op) const { return {(op == no_trans) == this->is_by_rows(), op == conj_trans}; }
  /// Refuses the call where an argument is wrong.
  bool refuses(std::initializer_list<Check> checks) const { return this->refuses_position(first_wrong(checks)); }
};
template <class... Arguments>
MatrixCall(const Routine&, int, Arguments...) -> MatrixCall<Arguments...>;

/// The words of level 2.
inline CblasWord uplo_word(int value) { return uplo_word(2, value); }
inline CblasWord trans_a_word(int position, int value) {
  return trans_word(position, value, "Illegal TransA setting, %d\n");
}
inline CblasWord diag_word(int value) { return diag_word(4, value); }

/// Fortran's letters.
inline std::optional<Half> parse_half(char character) {
  if (character == 'U' || character == 'u') return Half::Upper;
  if (character == 'L' || character == 'l') return Half::Lower;
  return std::nullopt;
}
inline std::optional<Form> parse_form(char character) {
  if (character == 'N' || character == 'n') return Form{false, false};
  if (character == 'T' || character == 't') return Form{true, false};
  if (character == 'C' || character == 'c') return Form{true, true};
  return std::nullopt;
}

/// The name that Fortran's handlers hear: six upper-case letters.
struct FortranWord {
  char text[7];
};
constexpr FortranWord fortran_word(const char* name) {
  FortranWord word{"      "};
  for (int i = 0; name[i] != '\0'; ++i)
    word.text[i] = name[i] >= 'a' && name[i] <= 'z' ? static_cast<char>(name[i] - 'a' + 'A') : name[i];
  return word;
}

/// Export a routine in one of the interfaces. The rest of the arguments is its body, which knows `routine`.
#define TESSERA_BLAS_FORTRAN(name, arguments, ...)                    \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(name##_) arguments {        \
    static constexpr FortranWord word = fortran_word(#name);          \
    const Routine routine = TESSERA_BLAS_ROUTINE(word.text, name##_); \
    __VA_ARGS__                                                       \
  }                                                                   \
  TESSERA_BLAS_SCIPY_NAME(name##_);
#define TESSERA_BLAS_CBLAS(name, arguments, ...)                                \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_##name) arguments {             \
    const Routine routine = TESSERA_BLAS_ROUTINE("cblas_" #name, cblas_##name); \
    __VA_ARGS__                                                                 \
  }                                                                             \
  TESSERA_BLAS_SCIPY_NAME(cblas_##name);

/// Tells the log, and does what the process does before its first call.
inline void begin(const Routine& routine, Index n, Index count) { begin_routine(routine, {n, count}); }

/// Is the factor 0, or 1? Bits are compared, so that a caller's floating-point state does not matter, and no flag is
/// raised in it.
template <class R>
bool has_bits_of(const R& x, R value) {
  return std::memcmp(&x, &value, sizeof x) == 0;
}
template <class N>
bool is_zero(const N& x) {
  if constexpr (vectors::has_two_parts<N>)
    return detail::is_exact_zero(x.re) && detail::is_exact_zero(x.im);
  else
    return detail::is_exact_zero(x);
}
template <class N>
bool is_one(const N& x) {
  if constexpr (vectors::has_two_parts<N>)
    return has_bits_of(x.re, vectors::RealOf<N>{1}) && detail::is_exact_zero(x.im);
  else
    return has_bits_of(x, N{1});
}

} // namespace tessera::blas
