#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/detail/number_type.hpp>
#include <tessera/interop/io.hpp>

namespace tessera::io {

struct NpyHeader {
  std::string descr; ///< NumPy's code of the element type, e.g. <f4
  bool fortran_order = false;
  std::vector<Index> shape;
  std::uintmax_t data_offset = 0; ///< bytes before the first element
};

/// Reads bytes of an open file, of which the first one is number `from`; false if the file ends before. Throws IoError,
/// which names the file and the place, if the system refuses to read.
bool read_bytes(std::ifstream& file, char* to, std::size_t count, std::uintmax_t from,
                const std::filesystem::path& path);
/// Reads the header. Throws IoError if this is no .npy file.
NpyHeader read_npy_header(const std::filesystem::path& path);
/// Names a NumPy code of an element type, such as "float32" for "<f4".
std::string describe_type(const std::string& descr);
/// Returns "2×3" for sizes 2 and 3.
std::string describe_shape(const std::vector<Index>& shape);
/// Throws IoError if the elements, of so many bytes each, overflow the address space or are not all in the file.
void check_length(const NpyHeader& header, const std::filesystem::path& path, std::string_view type, std::size_t bytes);
/// Returns the header of a row-major matrix, as the bytes before its first element. `code` is NumPy's code of the
/// element type without the byte order.
std::string npy_header_of(std::string_view code, Index rows, Index cols);
/// Returns the header of a row-major matrix of numbers or complex numbers of a type. Throws InvalidArgument, which
/// names the type, where NumPy has no code for it.
std::string npy_header_of(tessera::detail::NumberType type, Index rows, Index cols);
/// Returns the matrix that the header describes. Throws IoError if it is no matrix of an element type, or if the file
/// is shorter than its header says.
NpyInfo matrix_of(const NpyHeader& header, const std::filesystem::path& path);
/// Returns the matrix of complex numbers that the header describes; `type` of the result is the type of a number's two
/// parts. Throws as matrix_of() does.
NpyInfo complex_matrix_of(const NpyHeader& header, const std::filesystem::path& path, DType part);

} // namespace tessera::io
