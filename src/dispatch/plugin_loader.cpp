#include "plugin_loader.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <vector>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

namespace tessera {

const char library_mark = 0;

namespace {

namespace fs = std::filesystem;

/// The loader may know libtessera by a relative name. The folder is then the one from which it was loaded, not a folder
/// below today's current directory; the loader keeps it as the library's origin.
fs::path folder_of_libtessera() {
  Dl_info info{};
  link_map* library = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&load_plugin), &info, reinterpret_cast<void**>(&library),
              RTLD_DL_LINKMAP) == 0 ||
      info.dli_fname == nullptr)
    return {};
  fs::path file = info.dli_fname;
  if (file.is_relative()) {
    char origin[PATH_MAX] = {};
    if (dlinfo(library, RTLD_DI_ORIGIN, origin) != 0 || origin[0] != '/') return {};
    file = origin / file.filename();
  }
  std::error_code error;
  file = fs::canonical(file, error);
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
  return file.parent_path();
}

constexpr std::string_view file_prefix = "libtessera_", file_suffix = ".so";

std::vector<fs::path> search_folders() {
  std::vector<fs::path> folders = absolute_folders(plugin_path());
  if (const fs::path beside = folder_of_libtessera(); !beside.empty()) {
    folders.push_back(beside);
    folders.push_back(beside / "tessera");
  }
  const fs::path installed = TESSERA_INSTALL_PLUGIN_DIR;
  if (!installed.empty() && (folders.empty() || folders.back() != installed)) folders.push_back(installed);
  return folders;
}

std::string joined(const std::vector<fs::path>& folders) {
  std::string all;
  for (const fs::path& folder : folders) all += (all.empty() ? "" : ", ") + folder.string();
  return all;
}

/// Returns the file that an address of a loaded library lies in.
std::string file_of(const void* address) {
  Dl_info info{};
  return dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "(a file that has no name)";
}

/// Says what is wrong with a plug-in; empty if nothing is. It reads fields in order and stops at the first one that
/// disagrees, because the fields behind it may not exist.
std::string mismatch(const PluginInfo& info, std::string_view name) {
  if (info.struct_size != sizeof(PluginInfo))
    return "its PluginInfo has " + std::to_string(info.struct_size) + " bytes, this libtessera expects " +
           std::to_string(sizeof(PluginInfo)) + "; rebuild the plug-in against this version";
  if (info.abi_version != plugin_abi_version)
    return "it was built for plug-in ABI " + std::to_string(info.abi_version) + ", this libtessera has ABI " +
           std::to_string(plugin_abi_version) + "; rebuild the plug-in against this version";
  if (info.build_tag == nullptr || std::strcmp(info.build_tag, TESSERA_BUILD_TAG) != 0)
    return "it was built with '" + std::string(info.build_tag ? info.build_tag : "(none)") +
           "', this libtessera with '" + TESSERA_BUILD_TAG +
           "'; build both with the same compiler family and standard library";
  if (info.name == nullptr || name != info.name)
    return "it calls itself '" + std::string(info.name ? info.name : "(none)") + "', not '" + std::string(name) +
           "'; is the file misnamed?";
  if (!info.probe || !info.create || !info.destroy || !info.gemm_kernels || !info.reduce_kernels)
    return "one of its functions is null";
  if (info.memory != Memory::Host && info.memory != Memory::Device)
    return "its memory is " + std::to_string(static_cast<int>(info.memory)) + ", neither the host's nor a device's";
  if (info.bound_to != &library_mark)
    return "this process has two copies of libtessera, and the dynamic loader bound the plug-in to the other one, " +
           file_of(info.bound_to) + ", not to this one, " + file_of(&library_mark) +
           "; load only one of them, or use the backend through the other one";
  return {};
}

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

/// Opens a file and checks that it is the plug-in `name`. It is opened with RTLD_LOCAL, so that the symbols of a
/// plug-in's dependencies do not replace symbols of other libraries.
LoadedPlugin open(const fs::path& path, std::string_view name) {
  LoadedPlugin result{nullptr, path.string(), {}, true};
  const detail::ContractArithmetic contract; // a library made with -ffast-math changes the state as it is loaded
  errno = 0;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const int number = errno;
    const std::string why = dl_error();
    throw_if_short_of_memory(path, number, why);
    result.reason = "cannot load " + path.string() + ": " + why;
    return result;
  }
  const auto entry = reinterpret_cast<PluginEntry>(dlsym(library, plugin_entry_name));
  if (entry == nullptr) {
    result.reason = path.string() + " is not a Tessera plug-in: it does not export " + plugin_entry_name;
    result.claimable = false;
    dlclose(library);
    return result;
  }
  const PluginInfo* info = entry();
  const std::string why = info ? mismatch(*info, name) : "its entry point returned null";
  if (why.empty())
    result.plugin = info;
  else
    result.reason = "cannot use " + path.string() + ": " + why;
  return result;
}

Status internal(const PluginInfo& plugin, const char* function, const char* what) {
  return Status::failure(StatusCode::Internal,
                         std::string("plug-in ") + plugin.name + ": " + function + " threw: " + what);
}

} // namespace

bool is_plugin_name(std::string_view name) noexcept {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string plugin_path() {
  const char* variable = trusted_variable("TESSERA_PLUGIN_PATH");
  return variable != nullptr ? variable : "";
}

std::vector<std::string> plugin_names_in(std::string_view path) {
  std::vector<std::string> names;
  for (const fs::path& folder : absolute_folders(path)) {
    // Not std::filesystem, whose iterator allocates in functions that are noexcept.
    errno = 0;
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
    if (entries == nullptr && errno == ENOMEM) throw std::bad_alloc();
    if (entries == nullptr) continue; // a folder that is not there, or cannot be read, holds no plug-in
    while (const dirent* entry = readdir(entries.get())) {
      std::string_view name = entry->d_name;
      if (name.size() <= file_prefix.size() + file_suffix.size() || !name.starts_with(file_prefix) ||
          !name.ends_with(file_suffix))
        continue;
      name = name.substr(file_prefix.size(), name.size() - file_prefix.size() - file_suffix.size());
      if (is_plugin_name(name)) names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

LoadedPlugin load_plugin(std::string_view name) {
  const std::string file = std::string(file_prefix) + std::string(name) + std::string(file_suffix);
  const std::vector<fs::path> folders = search_folders();
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::exists(folder / file, error)) return open(folder / file, name);
  }
  return {nullptr,
          {},
          "no " + file + " in " + joined(folders) + "; build it, or name its folder in TESSERA_PLUGIN_PATH",
          false};
}

Status create_guarded(const PluginInfo& plugin, const ExecutorOptions& options, Executor*& executor) {
  executor = nullptr;
  const char* function = "probe";
  try {
    if (Status status = plugin.probe(); !status.ok()) return status;
    function = "create";
    Status status = plugin.create(options, executor);
    if (status.ok() && executor == nullptr)
      status = Status::failure(StatusCode::Internal,
                               std::string("plug-in ") + plugin.name + ": create made no executor and gave no reason");
    return status;
  } catch (const std::bad_alloc&) {
    executor = nullptr;
    throw;
  } catch (const std::exception& error) {
    executor = nullptr;
    return internal(plugin, function, error.what());
  } catch (...) {
    executor = nullptr;
    return internal(plugin, function, "something that is not a std::exception");
  }
}

} // namespace tessera
