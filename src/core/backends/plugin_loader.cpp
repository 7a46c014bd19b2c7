#include "plugin_loader.hpp"

#include <dirent.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <vector>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>

#include "missing_plugin.hpp"
#include "shared_library.hpp"

namespace tessera {

const char library_mark = 0;

namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_prefix = "libtessera_", file_suffix = ".so";
constexpr std::string_view no_backends[] = {"mpi_", "scalapack"};

bool may_be_backend(std::string_view name) {
  return is_plugin_name(name) && std::none_of(std::begin(no_backends), std::end(no_backends),
                                              [&](std::string_view prefix) { return name.starts_with(prefix); });
}

/// Says what is wrong with a plug-in; empty if nothing is. It reads fields in order and stops at the first one that
/// disagrees, because the fields after it may not exist.
std::string mismatch(const PluginInfo& info, std::string_view name) {
  if (std::string why = header_mismatch(info, "PluginInfo", plugin_abi_version); !why.empty()) return why;
  if (info.name == nullptr || name != info.name)
    return "it calls itself '" + std::string(info.name ? info.name : "(none)") + "', not '" + std::string(name) +
           "'; is the file misnamed?";
  if (!info.probe || !info.create || !info.destroy || !info.gemm_kernels || !info.reduce_kernels)
    return "one of its functions is null";
  if (info.memory != Memory::Host && info.memory != Memory::Device)
    return "its memory is " + std::to_string(static_cast<int>(info.memory)) + ", neither the host's nor a device's";
  return bound_elsewhere(info.bound_to);
}

/// Opens a file and checks that it is the plug-in `name`.
LoadedPlugin open(const fs::path& path, std::string_view name) {
  LoadedPlugin result{nullptr, path.string(), {}, true};
  const detail::ContractArithmetic contract; // a library made with -ffast-math changes the state as it is loaded
  const OpenedLibrary opened = open_library(path, plugin_entry_name, "Tessera plug-in");
  result.reason = opened.reason;
  result.claimable = !opened.is_another_library;
  if (opened.function == nullptr) return result;
  const PluginInfo* info = reinterpret_cast<PluginEntry>(opened.function)();
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

std::vector<fs::path> library_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& beside : folders_of(reinterpret_cast<const void*>(&load_plugin))) {
    add_folder(folders, beside);
    add_folder(folders, beside / "tessera");
  }
  const fs::path installed = TESSERA_INSTALL_PLUGIN_DIR;
  if (!installed.empty()) add_folder(folders, installed);
  return folders;
}

bool is_plugin_name(std::string_view name) noexcept {
  constexpr std::size_t longest = 64;
  return !name.empty() && name.size() <= longest && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders = absolute_folders(plugin_path());
  const std::vector<fs::path> own = library_folders();
  folders.insert(folders.end(), own.begin(), own.end());
  return folders;
}

std::string plugin_path() {
  const char* variable = trusted_variable("TESSERA_PLUGIN_PATH");
  const std::string_view path = variable != nullptr ? variable : "";
  static std::atomic<bool> has_complained = false;
  if (!has_complained) {
    const std::vector<std::string> complaints = passed_over_folders(path);
    if (!complaints.empty() && !has_complained.exchange(true))
      for (const std::string& line : complaints) log_line("TESSERA_PLUGIN_PATH: " + line);
  }
  return std::string(path);
}

std::vector<std::string> plugin_names_in(std::string_view path) {
  std::vector<std::string> names;
  for (const fs::path& folder : absolute_folders(path)) {
    // opendir() reads the folder, because the iterator of std::filesystem allocates in functions that are noexcept.
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
      if (may_be_backend(name)) names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

LoadedPlugin load_plugin(std::string_view name) {
  const std::string file = std::string(file_prefix) + std::string(name) + std::string(file_suffix);
  const std::vector<fs::path> folders = plugin_folders();
  if (const fs::path path = first_file(folders, file); !path.empty()) return open(path, name);
  return {nullptr, {}, missing_plugin(this_build(), name, file, joined(folders), !plugin_path().empty()), false};
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
