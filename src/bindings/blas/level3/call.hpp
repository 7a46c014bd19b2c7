#pragma once

/// What the routines of level 3 have in common. Each family has a structure for its call, as the Fortran routine sees
/// it: wrong() finds the position of the first wrong argument, and run() computes. A row-major call of CBLAS is checked
/// as the column-major one of the transposes, whose triangles and sides are the other ones, as netlib's CBLAS does.

#include <initializer_list>
#include <tuple>

#include "bindings/blas/solve.hpp"

namespace tessera::blas {

template <class T>
struct Parts {
  using type = T;
};
template <class T>
struct Parts<std::complex<T>> {
  using type = T;
};
/// The type of the real numbers among the arguments.
template <class T>
using RealOf = typename Parts<T>::type;

/// Numbers and matrices as CBLAS passes them: complex ones by address, without a type.
template <class T>
using Passed = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
using Read = std::conditional_t<is_complex<T>, const void*, const T*>;
template <class T>
using Written = std::conditional_t<is_complex<T>, void*, T*>;

template <class T>
T number(Passed<T> x) {
  if constexpr (is_complex<T>)
    return *static_cast<const T*>(x);
  else
    return x;
}

/// Runs the call of a Fortran routine, or refuses it; `arguments` are what the caller passed.
template <class Call, class... Arguments>
void run_fortran(const Routine& routine, const Call& call, Arguments... arguments) {
  const int wrong = call.wrong();
  if (wrong == 0) return call.run(routine);
  if (!hand_on(routine, arguments...)) report_fortran(routine, wrong);
}

/// A word of CBLAS among the arguments.
struct CblasWord {
  int position;
  const char* form; ///< what is printed of a wrong one
  int value;
  bool is_known;
};
inline CblasWord side_word(int position, int value) {
  return {position, "Illegal Side setting, %d\n", value, value == left_side || value == right_side};
}
inline CblasWord uplo_word(int position, int value) {
  return {position, "Illegal Uplo setting, %d\n", value, value == upper || value == lower};
}
inline CblasWord trans_word(int position, int value) {
  return {position, "Illegal Trans setting, %d\n", value, known(value)};
}
inline CblasWord diag_word(int position, int value) {
  return {position, "Illegal Diag setting, %d\n", value, value == non_unit || value == unit};
}

/// A call through CBLAS, which is refused with all of its arguments.
template <class... Arguments>
class CblasCall {
 public:
  CblasCall(const Routine& routine, int layout, Arguments... arguments)
      : routine_(routine), layout_(layout), arguments_(arguments...) {}

  bool is_by_rows() const { return layout_ == row_major; }
  /// Words of the column-major call that the Fortran routine would see.
  Side side(int word) const { return (word == left_side) != is_by_rows() ? Side::Left : Side::Right; }
  Triangle triangle(int word) const { return (word == lower) != is_by_rows() ? Triangle::Lower : Triangle::Upper; }

  /// Refuses the call if the layout or a word is none, and returns false then.
  bool has_words(std::initializer_list<CblasWord> words) const {
    if (layout_ != row_major && layout_ != col_major) {
      refuse(1, "Illegal layout setting, %d\n", layout_);
      return false;
    }
    for (const CblasWord& word : words)
      if (!word.is_known) {
        refuse(word.position, word.form, word.value);
        return false;
      }
    return true;
  }

  /// Runs the call as the Fortran routine would see it, or refuses it.
  template <class Call>
  void run(const Call& call) const {
    const int wrong = call.wrong();
    if (wrong == 0) return call.run(routine_);
    refuse(wrong + 1, "%s", ""); // C counts the layout, which Fortran does not have
  }

 private:
  template <class Text>
  void refuse(int position, const char* form, Text text) const {
    if (std::apply([&](auto... arguments) { return hand_on(routine_, layout_, arguments...); }, arguments_)) return;
    tell_row_major(is_by_rows());
    report_cblas(routine_, position, form, text);
    tell_row_major(false);
  }

  const Routine& routine_;
  int layout_;
  std::tuple<Arguments...> arguments_;
};

/// The op of a symmetric or Hermitian update, as the column-major routine would see it; none where it has no such one.
/// Updates of real matrices know both transposes.
template <class T>
std::optional<Op> update_op(std::optional<Op> op, bool is_hermitian, bool is_by_rows) {
  const Op transposed = is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
  if (!op || (*op != Op::None && *op != transposed)) return std::nullopt;
  return (*op == Op::None) != is_by_rows ? Op::None : transposed;
}

} // namespace tessera::blas
