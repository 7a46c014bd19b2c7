#pragma once

/// A call through CBLAS. It is checked as the column-major one of Fortran, as netlib's CBLAS does: a row-major matrix
/// is the column-major one of its transpose, whose triangle and side are the other ones.

#include <initializer_list>
#include <tuple>

#include "solve.hpp"

namespace tessera::blas {

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
inline CblasWord trans_word(int position, int value, const char* form = "Illegal Trans setting, %d\n") {
  return {position, form, value, known(value)};
}
inline CblasWord diag_word(int position, int value) {
  return {position, "Illegal Diag setting, %d\n", value, value == non_unit || value == unit};
}

/// The call, which is refused with all of its arguments.
template <class... Arguments>
class CblasCall {
 public:
  CblasCall(const Routine& routine, int layout, Arguments... arguments)
      : routine_(routine), value_(routine), layout_(layout), arguments_(arguments...) {}

  const Routine& routine() const { return routine_; }
  Index value(blas_word word) const { return value_(word); }
  bool is_by_rows() const { return layout_ == row_major; }
  /// Words of the column-major call.
  Side side(int word) const { return (word == left_side) != is_by_rows() ? Side::Left : Side::Right; }
  Triangle triangle(int word) const { return (word == lower) != is_by_rows() ? Triangle::Lower : Triangle::Upper; }

  /// Refuses the call if the layout or a word is none.
  bool refuses_words(std::initializer_list<CblasWord> words) const {
    if (layout_ != row_major && layout_ != col_major) {
      refuse(1, "Illegal layout setting, %d\n", layout_);
      return true;
    }
    for (const CblasWord& word : words)
      if (!word.is_known) {
        refuse(word.position, word.form, word.value);
        return true;
      }
    return false;
  }
  /// Refuses the call if `position`, at which Fortran counts the first wrong argument, is not 0.
  bool refuses_position(int position) const {
    if (position != 0) refuse(position + 1, "%s", ""); // C counts the layout, which Fortran does not have
    return position != 0;
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
  Integers value_;
  int layout_;
  std::tuple<Arguments...> arguments_;
};

} // namespace tessera::blas
