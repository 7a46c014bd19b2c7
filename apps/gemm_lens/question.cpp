#include "question.hpp"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <regex>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tessera/status.hpp>

#include "gemm_judge/compilers.hpp"

namespace tessera::lens {
namespace {

namespace fs = std::filesystem;

/// A kernel that a file defines: "tile_1d" of "const GemmKernel tile_1d_f32 = …".
struct Defined {
  std::string name, type;
};
std::vector<Defined> kernels_of(const std::string& text) {
  static const std::regex definition(R"(\bconst GemmKernel (\w+)_(f32|f64|f16|bf16)\s*[={])");
  std::vector<Defined> all;
  for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at)
    all.push_back({(*at)[1], (*at)[2]});
  return all;
}

/// Returns what a source has of matrix units, as "mma.h"; empty: nothing.
std::string matrix_units_in(const std::string& text) {
  static const std::regex units(
      R"re(#include\s*[<"](mma\.h|.*dmma\.cuh|.*wgmma.*|.*warp_mma\.cuh)[>"]|"\s*((wg)?mma(\.\w+)*\.sync))re");
  std::smatch found;
  if (!std::regex_search(text, found, units)) return {};
  return found[1].matched ? found[1].str() : found[2].str();
}

/// Refuses what no processor has.
void check_supported(const std::string& name, const std::string& text) {
  if (const std::string units = matrix_units_in(text); !units.empty())
    throw InvalidArgument(
        fmt::format("--lens: {} uses {}: the lens emulates no matrix units, which are instructions of a "
                    "GPU that C++ has no words for; use ncu on a GPU",
                    name, units));
}

std::vector<fs::path> rungs_in(const fs::path& textbook) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(textbook, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".cu") files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

Source rung_of(const fs::path& file, const Defined& kernel) {
  return {file, kernel.name, kernel.name + "_" + kernel.type};
}

/// The message for a word that names nothing; `names`: the rungs of the type.
InvalidArgument not_found(const Question& question, const std::vector<std::string>& names) {
  const std::string& word = question.kernel;
  if (names.empty())
    return InvalidArgument(
        fmt::format("--lens: there is no file {}, and the sources of the textbook's rungs are not "
                    "installed; see docs/lens.md",
                    word));
  static const std::regex units("^(wg|w|d)?mma(_.*)?$");
  if (std::regex_match(word, units))
    return InvalidArgument(fmt::format("--lens: {} is no rung, and the lens emulates no matrix units; rungs of {}: {}",
                                       word, to_string(question.type), fmt::join(names, ", ")));
  return InvalidArgument(fmt::format(
      "--lens: there is no file {} and no rung of that name; did you mean '{}'? The lens runs files and the "
      "textbook's rungs, of {}: {}",
      word, nearest_word(word, names), to_string(question.type), fmt::join(names, ", ")));
}

Source find_rung(const Question& question, const Folders& folders) {
  const std::string type(to_string(question.type));
  std::vector<std::string> names;
  std::string other_type;
  for (const fs::path& file : rungs_in(folders.backends / "cuda/gemm/textbook")) {
    const std::string text = judge::contents(file);
    const bool runs = matrix_units_in(text).empty();
    for (const Defined& kernel : kernels_of(text)) {
      if (kernel.name == question.kernel) {
        check_supported(kernel.name, text);
        if (kernel.type == type) return rung_of(file, kernel);
        other_type = kernel.type;
      }
      if (kernel.type == type && runs) names.push_back(kernel.name);
    }
  }
  if (!other_type.empty())
    throw InvalidArgument(
        fmt::format("--lens: {} has no kernel of {}; give --dtype {}", question.kernel, type, other_type));
  throw not_found(question, names);
}

} // namespace

Source find_source(const Question& question, const Folders& folders) {
  std::error_code error;
  const fs::path file = fs::canonical(question.kernel, error);
  if (error || fs::is_directory(file)) {
    if (question.kernel.find('/') == std::string::npos && question.kernel.find(".cu") == std::string::npos)
      return find_rung(question, folders);
    throw InvalidArgument(error ? "--lens: there is no file " + question.kernel + "; name a .cu file or a rung"
                                : "--lens: " + question.kernel + " is a folder; name a .cu file or a rung");
  }
  if (access(file.c_str(), R_OK) != 0)
    throw InvalidArgument("--lens: " + question.kernel + " cannot be read: " + std::strerror(errno));
  const std::string extension = file.extension();
  if (extension != ".cu" && extension != ".cpp" && extension != ".cc" && extension != ".cuh")
    throw InvalidArgument("--lens: " + question.kernel +
                          " is no source of CUDA C++ (.cu); the lens compiles it itself");
  const std::string text = judge::contents(file);
  check_supported(question.kernel, text);
  const std::vector<Defined> kernels = kernels_of(text);
  if (kernels.empty()) return {file, "", ""};
  const std::string type(to_string(question.type));
  for (const Defined& kernel : kernels)
    if (kernel.type == type) return rung_of(file, kernel);
  throw InvalidArgument(fmt::format("--lens: {} has no kernel of {}", question.kernel, type));
}

} // namespace tessera::lens
