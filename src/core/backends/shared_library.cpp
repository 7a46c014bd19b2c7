#include "shared_library.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/processors.hpp>

namespace tessera {

namespace fs = std::filesystem;

namespace {

/// Returns the name under which the program was started, if it is absolute. A program with more rights than its caller
/// has does not look beside a link that the caller may have made.
fs::path name_of_program() {
  const auto* const name = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return getauxval(AT_SECURE) == 0 && name != nullptr && *name == '/' ? fs::path(name) : fs::path("/proc/self/exe");
}

} // namespace

std::vector<fs::path> folders_of(const void* address) {
  Dl_info info{};
  link_map* library = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 || info.dli_fname == nullptr)
    return {};
  const bool is_program = library->l_name == nullptr || *library->l_name == '\0';
  fs::path file = is_program ? name_of_program() : info.dli_fname;
  if (file.is_relative()) {
    char origin[PATH_MAX] = {};
    if (dlinfo(library, RTLD_DI_ORIGIN, origin) != 0 || origin[0] != '/') return {};
    file = origin / file.filename();
  }
  std::vector<fs::path> folders;
  const auto add = [&](const fs::path& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    if (error == std::errc::not_enough_memory) throw std::bad_alloc();
    if (!error) add_folder(folders, canonical);
  };
  if (file != "/proc/self/exe") add(file.parent_path()); // links in the folder's own name do not count
  std::error_code error;
  file = fs::canonical(is_program ? fs::path("/proc/self/exe") : file, error);
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
  if (!error) add_folder(folders, file.parent_path());
  return folders;
}

void add_folder(std::vector<fs::path>& folders, const fs::path& folder) {
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

std::string joined(const std::vector<fs::path>& folders) {
  std::string all;
  for (const fs::path& folder : folders) all += (all.empty() ? "" : ", ") + folder.string();
  return all;
}

fs::path first_file(const std::vector<fs::path>& folders, const std::string& file) {
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::exists(folder / file, error)) return folder / file;
  }
  return {};
}

std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "(a file that has no name)";
}

namespace {

std::string dl_error() {
  const char* error = dlerror();
  return error ? error : "unknown error";
}

/// Throws OutOfMemory if that is why a file could not be loaded: the next call may load it. The loader has no code for
/// its failures; errno and its text say it.
void throw_if_short_of_memory(const fs::path& path, int number, std::string_view text) {
  const auto says = [&](std::string_view words) { return text.find(words) != std::string_view::npos; };
  if (number != ENOMEM && !says(std::strerror(ENOMEM)) && !says("out of memory")) return;
  std::error_code error;
  throw OutOfMemory("out of host memory: cannot load " + path.string() + ", a file of " +
                    std::to_string(fs::file_size(path, error)) + " bytes: " + std::string(text));
}

} // namespace

std::string bound_elsewhere(const void* mark) {
  if (mark == &library_mark) return {};
  return "this process has two copies of libtessera, and the dynamic loader bound the plug-in to the other one, " +
         file_of(mark) + ", not to this one, " + file_of(&library_mark) +
         "; load only one of them, or use the plug-in through the other one";
}

OpenedLibrary open_library(const fs::path& path, const char* function, std::string_view kind) {
  const detail::KeptProcessors kept;
  errno = 0;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const int number = errno;
    const std::string why = dl_error();
    throw_if_short_of_memory(path, number, why);
    return {nullptr, "cannot load " + path.string() + ": " + why, false};
  }
  if (void* found = dlsym(library, function)) return {found, {}, false};
  dlclose(library);
  return {nullptr, path.string() + " is not a " + std::string(kind) + ": it does not export " + function, true};
}

} // namespace tessera
