#include "folders.hpp"

#include <tessera/status.hpp>

namespace tessera::lens {
namespace {

namespace fs = std::filesystem;

bool is_complete(const Folders& folders) {
  std::error_code error;
  return fs::exists(folders.headers / "cuda_runtime.h", error) && fs::exists(folders.runtime, error);
}

} // namespace

Folders find_folders() {
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path();
  const auto from_here = [&](const char* path) {
    return (beside / path).lexically_normal();
  }; // as compilers name files
  const fs::path shared = from_here(TESSERA_LENS_INSTALLED_FOLDER);
  const Folders installed{shared / "include", from_here(TESSERA_LENS_INSTALLED_RUNTIME), shared / "backends",
                          shared / "public"};
  if (is_complete(installed)) return installed;
#ifdef TESSERA_LENS_SOURCE_DIR
  const fs::path source = TESSERA_LENS_SOURCE_DIR;
  const Folders built{source / "apps/gemm_lens/device/include", TESSERA_LENS_BUILT_RUNTIME, source / "backends",
                      source / "include"};
  if (is_complete(built)) return built;
#endif
  throw IoError("--lens: its headers and its run-time library are not at " + shared.string() + " and " +
                installed.runtime.string() + "; install gemm_compare with its data files");
}

} // namespace tessera::lens
