#pragma once

/// The experiments of the sources that the ladders come from, each with what its source published. docs/lab/presets.md
/// has what they measure today.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/types.hpp>

namespace tessera::compare_app {

/// A figure that a source published for one rung. What the source does not give is 0.
struct Published {
  const char* backend = "cuda";
  const char* kernels; ///< shell pattern of the kernels that are this rung
  double seconds = 0;
  double gflops = 0;
  double gain = 0;             ///< over the first rung, where the source gives neither time nor speed
  const char* words = nullptr; ///< how the source says it; null: as text_of() prints the number
};

/// Where a preset runs, unless the command line names backends. On Any it runs on every backend that there is.
enum class Place { Gpu, Processor, Any };

/// Options that the command line does not give are taken from here; null is the option's own default.
struct Preset {
  const char* name;
  const char* summary; ///< for --help
  const char* source;  ///< what was published, where, and on which machine
  Place place = Place::Gpu;
  bool mean = false;  ///< it shows mean times, and a table of them over the sizes
  bool jumps = false; ///< it shows speeds over the sizes, and how far they are apart
  const char* sizes;
  const char* dtypes = "f32";
  const char* distribution = nullptr;
  const char* repeat = nullptr;
  const char* time_limit = nullptr;
  const char* ld_pad = nullptr;
  const char* kernels = nullptr;       ///< patterns; a pattern that matches nothing is passed over
  const char* lengths = nullptr;       ///< of vectors under --op sum_of_squares; null: the preset is of products alone
  const char* length_dtypes = nullptr; ///< of these vectors
  const char* machine = "";            ///< that the figures are of
  Index size = 0;                      ///< n of the square products that the figures are of; 0: the source does not say
  std::span<const Published> published = {};
};

/// Every preset, in alphabetic order.
std::span<const Preset> presets();

/// Throws InvalidArgument with the nearest name and all names if there is no preset of this name.
const Preset& find_preset(const std::string& name);

/// Returns the figure as the source gives it: "392 ms", "1986.5 GFLOP/s", "≈ 5 times".
std::string text_of(const Published& figure);

/// Returns each figure's gain over the first one; 0 where it does not follow from the figures, as where the source does
/// not say of which product they are.
std::vector<double> gains_of(const Preset& preset);

} // namespace tessera::compare_app
