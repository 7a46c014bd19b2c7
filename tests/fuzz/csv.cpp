/// Reads the input as comma-separated text of each element type.

#include <tessera/half.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "input_file.hpp"

namespace {

template <class T>
void load_csv_as(const std::filesystem::path& path) {
  try {
    const tessera::Matrix<T> matrix = tessera::load_csv<T>(path);
    for (tessera::Index i = 0; i < matrix.rows(); ++i)
      tessera::fuzz::require(matrix.row(i).size() == static_cast<std::size_t>(matrix.cols()), "rows of unlike lengths");
  } catch (const tessera::IoError&) {
    return; // a clear refusal
  }
}

} // namespace

TESSERA_FUZZ_TARGET(csv) {
  const tessera::fuzz::InputFile file(data, size);
  load_csv_as<float>(file.path());
  load_csv_as<double>(file.path());
  load_csv_as<tessera::f16>(file.path());
  load_csv_as<tessera::bf16>(file.path());
}
