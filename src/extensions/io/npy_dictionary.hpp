#pragma once

/// The dictionary in the header of a .npy file: an expression of Python, which NumPy reads with ast.literal_eval.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::io {

/// A value of the dictionary: a string, whole numbers in a tuple, True or False, or something else.
struct NpyValue {
  std::optional<std::string> text;
  std::optional<std::vector<Index>>
      sizes; ///< the numbers, if the value is a tuple of numbers alone; a negative one is −1
  bool is_tuple = false;
  std::optional<bool> truth;
};

/// The values of the three keys that NumPy writes, in any order.
struct NpyDictionary {
  std::optional<NpyValue> descr, fortran_order, shape;
};

/// Reads the dictionary in every form that NumPy reads: blanks, line breaks and comments anywhere; quotes of both
/// kinds; a trailing comma or none; numbers with a sign, with underscores, in base 2, 8 or 16, and with the L that
/// Python 2 wrote after long ones. Returns nothing where the text is no dictionary.
std::optional<NpyDictionary> parse_npy_dictionary(std::string_view text);

} // namespace tessera::io
