#include "vendor_library.hpp"

#include <atomic>
#include <filesystem>
#include <string_view>
#include <vector>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/log.hpp>

namespace tessera::cuda {
namespace {

/// Returns the folders of TESSERA_CUBLAS_PATH. Says once which ones are passed over.
std::vector<std::filesystem::path> named_folders() {
  const char* const variable = trusted_variable("TESSERA_CUBLAS_PATH");
  const std::string_view list = variable == nullptr ? "" : variable;
  static std::atomic<bool> has_complained = false;
  if (const std::vector<std::string> lines = passed_over_folders(list);
      !lines.empty() && !has_complained.exchange(true))
    for (const std::string& line : lines) log_line("TESSERA_CUBLAS_PATH: " + line);
  return absolute_folders(list);
}

std::string version_suffix(const char* before, int version) {
  return std::string(before).append(std::to_string(version));
}

} // namespace

std::string loader_error() {
  const char* why = dlerror();
  return why == nullptr ? "unknown error of the dynamic loader" : why;
}

void* open_library(const VendorLibrary& wanted, std::string& missing) {
  const std::string stem = wanted.stem;
  const std::string newer = version_suffix(".so.", wanted.newest), older = version_suffix(".", wanted.newest - 1);
  const char* named = trusted_variable(wanted.variable);
  if (named != nullptr && *named != '\0') {
    void* library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      missing = std::string(wanted.title) + " could not be opened at " + wanted.variable + "=" + named + " (" +
                loader_error() + "); set it to the path of " + stem + newer + " or " + older;
    return library;
  }
  std::vector<std::filesystem::path> folders = named_folders();
  folders.insert(folders.end(), {"", "/usr/local/cuda/lib64"});
  for (const std::filesystem::path& folder : folders)
    for (const std::string& version : {newer, version_suffix(".so.", wanted.newest - 1)})
      if (void* library = dlopen((folder / (stem + version)).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  missing = std::string(wanted.title) + " was not found (" + loader_error() + "); install it, or set " +
            wanted.variable + " or LD_LIBRARY_PATH to where " + stem + newer + " or " + older +
            " is (Python: pip install " + wanted.package + ")";
  return nullptr;
}

} // namespace tessera::cuda
