#pragma once

/// Matrices in files: NumPy's .npy and comma-separated text.
///
///     Matrix a = load_npy<float>("a.npy");
///     save_npy("c.npy", gemm(a, a));
///
/// Every error is an IoError that names the file and what is wrong with it. Nothing half-written is left: a file is
/// written beside its target and takes its place when it is complete (a target that is no regular file, such as
/// /dev/stdout, is written to directly).

#include <concepts>
#include <filesystem>
#include <string_view>

#include <tessera/detail/export.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

namespace tessera {

/// Element types that files are read into.
template <class T>
concept FileElement = ElementNumber<T>;

struct NpyInfo {
  DType type = DType::F32;
  Index rows = 0;
  Index cols = 0;
  bool fortran_order = false; ///< columns are stored one after the other
};

/// Reads the header of a .npy file and checks that the file is as long as it says. Throws IoError unless it is a
/// two-dimensional array of little-endian float32, float64, float16 ('<f2') or bfloat16. NumPy has no bfloat16 of its
/// own; two opaque bytes ('<V2') are what it saves for ml_dtypes.bfloat16, so they are read as that, and written. In
/// Python: np.load("a.npy").view(ml_dtypes.bfloat16).
TESSERA_API NpyInfo inspect_npy(const std::filesystem::path& path);

namespace detail {
TESSERA_API NpyInfo inspect_npy(const std::filesystem::path& path, DType expected);
TESSERA_API void read_npy(const std::filesystem::path& path, const Operand& target);
TESSERA_API void write_npy(const std::filesystem::path& path, const Operand& source);
TESSERA_API void write_csv(const std::filesystem::path& path, const Operand& source);
} // namespace detail

/// Row-major and Fortran order are both read; the matrix is row-major in any case. Throws IoError if the file holds
/// another element type than T: nothing is converted unasked.
template <FileElement T>
Matrix<T> load_npy(const std::filesystem::path& path) {
  const NpyInfo info = detail::inspect_npy(path, dtype_of<T>);
  auto matrix = Matrix<T>::uninitialized(info.rows, info.cols);
  detail::read_npy(path, matrix.operand());
  return matrix;
}

/// A matrix or a view, in row-major order.
template <MatrixLike M>
void save_npy(const std::filesystem::path& path, const M& matrix) {
  detail::write_npy(path, matrix.view().operand());
}

/// One row a line, fields parted by commas, blanks around them ignored; empty lines and lines that start with # are
/// skipped. Throws IoError that names the line and the field if a field is not a number, is beyond T's range or a row
/// has another length.
template <FileElement T>
Matrix<T> load_csv(const std::filesystem::path& path);
extern template TESSERA_API Matrix<float> load_csv<float>(const std::filesystem::path& path);
extern template TESSERA_API Matrix<double> load_csv<double>(const std::filesystem::path& path);
extern template TESSERA_API Matrix<f16> load_csv<f16>(const std::filesystem::path& path);
extern template TESSERA_API Matrix<bf16> load_csv<bf16>(const std::filesystem::path& path);

/// With as many digits as bring the same bits back.
template <MatrixLike M>
void save_csv(const std::filesystem::path& path, const M& matrix) {
  detail::write_csv(path, matrix.view().operand());
}

/// Where this user's programs keep what can be made anew: $XDG_CACHE_HOME/tessera, or ~/.cache/tessera. Empty if
/// neither variable names a folder; what is not absolute is ignored, as the base directory specification says.
TESSERA_API std::filesystem::path user_cache_folder();

/// Replaces a file's contents by this text, as save_npy does. Throws IoError.
TESSERA_API void write_text_file(const std::filesystem::path& path, std::string_view text);
/// Throws IoError if no file could be written there now. Leaves nothing behind.
TESSERA_API void check_writable(const std::filesystem::path& path);

} // namespace tessera
