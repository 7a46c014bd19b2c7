#pragma once

/// Matrices in files: NumPy's .npy and comma-separated text.
///
///     Matrix a = load_npy<float>("a.npy");
///     save_npy("c.npy", gemm(a, a));
///
/// No file is left half-written, and a link stays a link; docs/large_files.md ("How files are written") has the rules.
/// Numbers are read and written with a decimal point, whatever the caller's floating-point state and the program's
/// locale.
///
/// Errors: every error is an IoError, which names the file and says what is wrong with it: that the disk is full, for
/// example. A signal that interrupts a wait ends nothing.

#include <concepts>
#include <filesystem>
#include <string>

#include <tessera/detail/export.hpp>
#include <tessera/files.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Element types that files are read into.
template <class T>
concept FileElement = ElementNumber<T>;

/// The header of a .npy file.
struct NpyInfo {
  DType type = DType::F32;    ///< type of the elements
  Index rows = 0;             ///< number of rows
  Index cols = 0;             ///< number of columns
  bool fortran_order = false; ///< columns are stored one after the other
};

/// Reads the header of a .npy file and checks that the file is as long as it says. Throws IoError unless it is a
/// two-dimensional array of little-endian float32, float64, float16 ('<f2') or bfloat16. The header may have any form
/// that NumPy reads, also the form that Python 2 wrote on Windows. NumPy has no bfloat16 and saves ml_dtypes.bfloat16
/// as two opaque bytes ('<V2'), so these are read and written as bf16. In Python:
/// np.load("a.npy").view(ml_dtypes.bfloat16).
TESSERA_API NpyInfo inspect_npy(const std::filesystem::path& path);

namespace detail {
TESSERA_API NpyInfo inspect_npy(const std::filesystem::path& path, DType expected);
TESSERA_API void read_npy(const std::filesystem::path& path, const Operand& target);
TESSERA_API void write_npy(const std::filesystem::path& path, const Operand& source);
TESSERA_API void write_csv(const std::filesystem::path& path, const Operand& source);
} // namespace detail

/// Reads a .npy file in row-major or Fortran order; the matrix is row-major. Throws IoError if the file has another
/// element type than T, because nothing is converted implicitly.
template <FileElement T>
Matrix<T> load_npy(const std::filesystem::path& path) {
  const NpyInfo info = detail::inspect_npy(path, dtype_of<T>);
  auto matrix = Matrix<T>::uninitialized(info.rows, info.cols);
  detail::read_npy(path, matrix.operand());
  return matrix;
}

/// Writes a matrix or a view in row-major order.
template <MatrixLike M>
void save_npy(const std::filesystem::path& path, const M& matrix) {
  detail::write_npy(path, matrix.view().operand());
}

/// Reads comma-separated text: each line is a row, blanks around fields are ignored, empty lines and lines that start
/// with # are skipped, as is the mark that some programs begin UTF-8 with. A field is one sign or none and then decimal
/// digits with at most one point and an exponent with at least one digit, or one of inf, infinity and nan in letters of
/// either case; there are no hexadecimal numbers and no marks between thousands. Throws IoError, which names the line
/// and the field, if a field is not a number or is beyond T's range, or if a row has another length.
template <FileElement T>
TESSERA_ABI_TAG Matrix<T> load_csv(const std::filesystem::path& path);
/// The library has this instance.
extern template TESSERA_API_INSTANCE Matrix<float> load_csv<float>(const std::filesystem::path& path);
/// The library has this instance.
extern template TESSERA_API_INSTANCE Matrix<double> load_csv<double>(const std::filesystem::path& path);
/// The library has this instance.
extern template TESSERA_API_INSTANCE Matrix<f16> load_csv<f16>(const std::filesystem::path& path);
/// The library has this instance.
extern template TESSERA_API_INSTANCE Matrix<bf16> load_csv<bf16>(const std::filesystem::path& path);

/// Writes comma-separated text with as many digits as give the same bits when they are read. Throws IoError where the
/// library was built without xtensor.
template <MatrixLike M>
void save_csv(const std::filesystem::path& path, const M& matrix) {
  detail::write_csv(path, matrix.view().operand());
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
