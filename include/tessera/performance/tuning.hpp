#pragma once

/// Tuning tables: the kernel that was measured to be the fastest for each of many products on one device.
/// `gemm_compare tune` writes them, and an executor reads one when it is made.
///
/// A table is a JSON file for one device, `<backend>-<device>.json` in lower case. An executor looks for it in the
/// folder or file that TESSERA_TUNING names (`none`: nowhere), then in $XDG_CACHE_HOME/tessera/tuning (or ~/.cache/…),
/// then in the folder tuning/ beside the plug-in, which holds tables for some devices. A table may be deleted: without
/// one the first kernel of the ladder runs that does not reject the product. A table of kernels that have changed since
/// (Capabilities::kernel_revision) is passed over. A table never changes bits where a contract holds
/// (docs/contract.md), because only kernels that keep it are taken from the table.
///
/// Source: the selection tables of vendors' libraries; here they are a file that every user can measure anew.

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The fastest kernel for one product without transposes.
struct TunedProduct {
  DType type = DType::F32;  ///< type of the operands
  Math math = Math::Strict; ///< the mode of the product
  Index m = 0;              ///< rows of C
  Index n = 0;              ///< columns of C
  Index k = 0;              ///< columns of A and rows of B
  std::string kernel;       ///< the kernel's name
  double seconds = 0;       ///< the time that it took
};

/// The contents of a table's file.
struct TuningTable {
  Backend backend = Backend::Cuda;    ///< the backend whose kernels were timed
  std::string device;                 ///< Capabilities::device
  std::string driver;                 ///< Capabilities::driver at the time of measuring
  int revision = 0;                   ///< Capabilities::kernel_revision at that time; 0: the file does not say
  std::vector<TunedProduct> products; ///< the products that were timed
};

/// May an executor choose this kernel without being asked for it by name? It may not choose a yardstick, nor a strict
/// kernel that does not keep the contract, because a strict product has the same bits everywhere.
inline bool keeps_contract(const GemmKernel& kernel) {
  return (kernel.math != Math::Strict || kernel.summation == Summation::Canonical) && !kernel.yardstick;
}

/// May an executor of this machine with this ladder choose the kernel without being asked for it by name? Where a
/// kernel of the ladder keeps the contract of Hopper's matrix units (docs/contract.md), kernels of the same type and
/// mode that add in another order may not be chosen, on hosts and on devices with these matrix units: the bits would
/// depend on the kernel.
inline bool keeps_contract(const GemmKernel& kernel, std::span<const GemmKernel> ladder, const Capabilities& machine) {
  if (!keeps_contract(kernel)) return false;
  if (has_contract(kernel.summation) || !(machine.host_memory || machine.compute_major == 9)) return true;
  return std::none_of(ladder.begin(), ladder.end(), [&](const GemmKernel& other) {
    return other.type == kernel.type && other.math == kernel.math && other.summation == Summation::HopperUnits &&
           keeps_contract(other);
  });
}

/// Do all kernels that an executor of this machine may choose for this type and mode keep the numerical contract, and
/// is there one? Then a product without a named kernel has bits that do not depend on the kernel.
inline bool promises_bits(std::span<const GemmKernel> ladder, const Capabilities& machine, DType type, Math math) {
  const auto may_run = [&](const GemmKernel& kernel) {
    return kernel.type == type && kernel.math == math && keeps_contract(kernel, ladder, machine);
  };
  return std::any_of(ladder.begin(), ladder.end(), may_run) &&
         std::none_of(ladder.begin(), ladder.end(),
                      [&](const GemmKernel& kernel) { return may_run(kernel) && !has_contract(kernel.summation); });
}

/// Reads a table. Throws IoError, which names the file and says what is wrong with it.
TESSERA_API TuningTable load_tuning(const std::filesystem::path& path);
/// Writes a table, and makes its folder if there is none. Throws IoError, and leaves no file half-written.
TESSERA_API void save_tuning(const std::filesystem::path& path, const TuningTable& table);

/// Returns the name of a machine's table, such as "cuda-nvidia-h200.json".
TESSERA_API std::string tuning_file_name(const Capabilities& machine);
/// Returns the path for a table that the user measures; empty if there is no home folder.
TESSERA_API std::filesystem::path tuning_target(const Capabilities& machine);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
