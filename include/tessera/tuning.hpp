#pragma once

/// Which kernel is fastest for which product on one device, as measured: what `gemm_compare tune` writes and an
/// executor reads when it is made.
///
/// A table is a JSON file for one device, `<backend>-<device>.json`, its name in lower case. It is looked for in the
/// folder or file that TESSERA_TUNING names (`none`: nowhere), then in $XDG_CACHE_HOME/tessera/tuning (or ~/.cache/…),
/// then in the folder tuning/ beside the plug-in, where tables for some devices are shipped. It may be deleted: without
/// one the first kernel of the ladder that does not reject runs. It never changes bits under Math::Strict: canonical
/// rows alone are taken from it.
///
/// Idea: the selection tables of vendors' libraries, as a file that anybody can measure anew.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// The fastest kernel for one product without transposes.
struct TunedProduct {
  DType type = DType::F32;
  Math math = Math::Strict;
  Index m = 0;
  Index n = 0;
  Index k = 0;
  std::string kernel;
  double seconds = 0;
};

struct TuningTable {
  Backend backend = Backend::Cuda;
  std::string device; ///< Capabilities::device
  std::string driver; ///< Capabilities::driver when it was measured
  std::vector<TunedProduct> products;
};

/// May an executor choose this row by itself? What was not asked for by name gives the same bits everywhere, and waits
/// for nothing but the product.
inline bool keeps_contract(const GemmKernel& row) {
  return (row.math != Math::Strict || row.summation == Summation::Canonical) && !row.yardstick;
}

/// Throws IoError that names the file and what is wrong with it.
TESSERA_API TuningTable load_tuning(const std::filesystem::path& path);
/// Nothing half-written; makes the folder. Throws IoError.
TESSERA_API void save_tuning(const std::filesystem::path& path, const TuningTable& table);

/// cuda-nvidia-h100-80gb-hbm3.json
TESSERA_API std::string tuning_file_name(const Capabilities& machine);
/// Where a table that a user measures is kept; empty if there is no home.
TESSERA_API std::filesystem::path tuning_target(const Capabilities& machine);

} // namespace tessera
