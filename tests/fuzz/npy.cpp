/// Reads the input as a .npy file of each element type.

#include <tessera/half.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "input_file.hpp"

namespace {

template <class T>
void load_npy_as(const std::filesystem::path& path, const tessera::NpyInfo& info) {
  try {
    const tessera::Matrix<T> matrix = tessera::load_npy<T>(path);
    tessera::fuzz::require(info.type == tessera::dtype_of<T>, "a file was read as another type than it has");
    tessera::fuzz::require(matrix.rows() == info.rows && matrix.cols() == info.cols, "a matrix of another shape");
    if (matrix.rows() > 0 && matrix.cols() > 0) // AddressSanitizer sees whether the last element is there
      static_cast<void>(static_cast<double>(matrix(matrix.rows() - 1, matrix.cols() - 1)));
  } catch (const tessera::IoError&) {
    tessera::fuzz::require(info.type != tessera::dtype_of<T>, "a file that was inspected cannot be read");
  }
}

} // namespace

TESSERA_FUZZ_TARGET(npy) {
  const tessera::fuzz::InputFile file(data, size);
  try {
    const tessera::NpyInfo info = tessera::inspect_npy(file.path());
    load_npy_as<float>(file.path(), info);
    load_npy_as<double>(file.path(), info);
    load_npy_as<tessera::f16>(file.path(), info);
    load_npy_as<tessera::bf16>(file.path(), info);
  } catch (const tessera::IoError&) {
    return; // a clear refusal
  }
}
