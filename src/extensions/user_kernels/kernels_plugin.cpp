#include "kernels_plugin.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/fork.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/status.hpp>

#include "core/backends/plugin_loader.hpp"
#include "core/backends/shared_library.hpp"
#include "core/base/reentry.hpp"

namespace tessera::detail {
namespace {

namespace fs = std::filesystem;

/// A form of device code: what its plug-in is called, and what it exports.
struct Form {
  const char* ending;   ///< of the file's name
  const char* function; ///< that the plug-in exports
  const char* type;     ///< of the table, in messages
  const char* compiler; ///< what has to be there when the program is built
};
constexpr Form cuda_form{"_cuda.so", kernel_table_function_name, "KernelTable", "where nvcc is"};
constexpr Form spirv_form{"_opencl.so", spirv_table_function_name, "SpirvTable",
                          "where clang and llvm-spirv are (Debian: clang-15 and llvm-spirv-15)"};

/// The plug-ins that were loaded. A file that cannot be used is tried again at the next call. The lock is not held
/// while a file is loaded, because another thread may hold the dynamic loader's, in a constructor that waits for this
/// one.
template <class Table>
struct LoadedTables {
  std::mutex mutex;
  std::map<fs::path, const Table*> tables;

  const Table* find(const fs::path& path) {
    const std::lock_guard lock(mutex);
    const auto known = tables.find(path);
    return known == tables.end() ? nullptr : known->second;
  }
  /// False if the table was there already.
  bool add(const fs::path& path, const Table* table) {
    const std::lock_guard lock(mutex);
    return tables.try_emplace(path, table).second;
  }
};
template <class Table>
LoadedTables<Table>& loaded_tables() {
  static auto* const tables = new LoadedTables<Table>; // never destroyed, as the plug-ins are not
  return *tables;
}

template <class Table>
const Table* load_table(const KernelRun& run, const Form& form, std::uint32_t abi, const fs::path& path) {
  const WholeAcrossFork action;
  LoadedTables<Table>& loaded = loaded_tables<Table>();
  if (const Table* known = loaded.find(path)) return known;
  Reentry::refuse(&loaded, "a plug-in of user kernels");
  const Reentry here(&loaded);
  const ContractArithmetic contract; // a library made with -ffast-math changes the state as it is loaded
  const OpenedLibrary opened = open_library(path, form.function, "plug-in of TESSERA_CUDA_KERNELS");
  if (opened.function == nullptr) unavailable(run, opened.reason);
  const Table* table = reinterpret_cast<const Table* (*)()>(opened.function)();
  const std::string why = table != nullptr ? header_mismatch(*table, form.type, abi) : "it has no table";
  if (!why.empty()) unavailable(run, "cannot use " + path.string() + ": " + why);
  if (!loaded.add(path, table)) return table; // another thread was faster
  if (log_dispatch()) log_line("user kernels: " + path.string() + " has " + std::to_string(table->count));
  return table;
}

fs::path find_plugin(const KernelRun& run, const Form& form) {
  std::string file = run.plugin.file; // as CUDA's form is called
  if (file.empty())
    unavailable(run,
                "this program was built without its plug-in of device code; name the .cu that lists the functor in "
                "TESSERA_CUDA_KERNELS: tessera_add_kernels(<program> <file>.cu) in CMake");
  if (file.ends_with(cuda_form.ending)) file.replace(file.rfind(cuda_form.ending), std::string::npos, form.ending);
  std::vector<fs::path> folders = absolute_folders(plugin_path());
  for (const fs::path& beside : folders_of(run.plugin.address)) add_folder(folders, beside);
  for (const fs::path& folder : library_folders())
    add_folder(folders, folder); // Tessera's own programs have theirs here
  fs::path path = first_file(folders, file);
  if (path.empty())
    unavailable(run, "no " + file + " in " + joined(folders) + "; build the program " + form.compiler +
                         " (tessera_add_kernels() then makes this plug-in), copy the file beside the program, or name "
                         "its folder in TESSERA_PLUGIN_PATH");
  return path;
}

std::string size_and_alignment(std::size_t size, std::size_t alignment, std::size_t value) {
  return std::to_string(size) + " bytes aligned to " + std::to_string(alignment) +
         (value != 0 ? ", with values of " + std::to_string(value) + " bytes" : "");
}

/// Finds the functor's entry among the entries of a plug-in.
template <class Entry>
const Entry& find_entry(const KernelRun& run, const fs::path& path, const Entry* entries, std::size_t count,
                        std::size_t value_size) {
  std::vector<std::string> names;
  for (const Entry* entry = entries; entry != entries + count; ++entry) {
    names.emplace_back(entry->name);
    if (names.back() != run.name) continue;
    if (entry->size != run.size || entry->alignment != run.alignment ||
        (value_size != 0 && entry->value_size != 0 && entry->value_size != value_size))
      unavailable(run, path.string() + " was compiled with another functor of this name: there it has " +
                           size_and_alignment(entry->size, entry->alignment, value_size ? entry->value_size : 0) +
                           ", in the program " + size_and_alignment(run.size, run.alignment, value_size) +
                           "; compile both from one header");
    return *entry;
  }
  unavailable(run, path.string() + " has no functor of this name; add it to TESSERA_CUDA_KERNELS" +
                       (names.empty() ? "" : " (nearest: '" + nearest_word(run.name, names) + "')"));
}

} // namespace

void unavailable(const KernelRun& run, const std::string& why) {
  throw BackendUnavailable("functor '" + std::string(run.name) + "' cannot run on " +
                           std::string(to_string(run.executor.capabilities().backend)) + ": " + why);
}

const KernelEntry& find_kernel(const KernelRun& run, std::size_t value_size) {
  const fs::path path = find_plugin(run, cuda_form);
  const auto* const table = load_table<KernelTable>(run, cuda_form, kernel_table_abi, path);
  return find_entry(run, path, table->entries, table->count, value_size);
}

FoundSpirv find_spirv(const KernelRun& run, std::size_t value_size) {
  const fs::path path = find_plugin(run, spirv_form);
  const auto* const table = load_table<SpirvTable>(run, spirv_form, spirv_table_abi, path);
  return {table, &find_entry(run, path, table->functors, table->count, value_size)};
}

const KernelTable& table_of(const KernelEntry& entry) {
  auto& loaded = loaded_tables<KernelTable>();
  const std::lock_guard lock(loaded.mutex);
  for (const auto& [path, table] : loaded.tables)
    if (&entry >= table->entries && &entry < table->entries + table->count) return *table;
  throw Error(StatusCode::Internal, "a user kernel belongs to no plug-in");
}

} // namespace tessera::detail
