#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <tessera/io.hpp>

namespace tessera::io {

struct NpyHeader {
  std::string descr; ///< NumPy's code of the element type, e.g. <f4
  bool fortran_order = false;
  std::vector<Index> shape;
  std::uintmax_t data_offset = 0; ///< bytes before the first element
};

/// Throws IoError if this is no .npy file.
NpyHeader read_npy_header(const std::filesystem::path& path);
/// Throws IoError if the array is no matrix that we read, or the file is shorter than it says.
NpyInfo matrix_of(const NpyHeader& header, const std::filesystem::path& path);

} // namespace tessera::io
