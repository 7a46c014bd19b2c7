/// Finds out which MPI the process uses, from the libraries that are loaded, because an MPI_Comm has no type that would
/// tell.

#include "find_mpi.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/detail/floating_point.hpp>

#include "core/backends/plugin_loader.hpp"
#include "core/backends/shared_library.hpp"
#include "core/base/loaded_libraries.hpp"

namespace tessera::distributed {
namespace {

namespace fs = std::filesystem;

using GetVersion = int (*)(char* text, int* length);

/// An MPI library of the process.
struct LoadedMpi {
  GetVersion get_version;
  std::string file;
};

[[noreturn]] void unavailable(const std::string& why) { throw BackendUnavailable("distributed matrices: " + why); }

/// Is the library called like an MPI?
bool is_named_like_mpi(std::string_view path) { return path.substr(path.rfind('/') + 1).starts_with("libmpi"); }

void add(std::vector<LoadedMpi>& found, void* function) {
  if (function == nullptr) return;
  const auto get_version = reinterpret_cast<GetVersion>(function);
  const auto same = [&](const LoadedMpi& mpi) { return mpi.get_version == get_version; };
  if (std::none_of(found.begin(), found.end(), same)) found.push_back({get_version, file_of(function)});
}

/// Looks in the global scope, where also a program linked statically with MPI has it, and in each library by itself.
std::vector<LoadedMpi> loaded_libraries() {
  constexpr const char* name = "MPI_Get_library_version";
  std::vector<LoadedMpi> found;
  add(found, dlsym(RTLD_DEFAULT, name));
  for (const std::string& path : loaded_library_names()) {
    if (!is_named_like_mpi(path)) continue;
    if (void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      add(found, dlsym(library, name));
      dlclose(library);
    }
  }
  return found;
}

std::string_view name_of(const LoadedMpi& mpi) {
  std::vector<char> text(16384); // the most that an MPI asks for is 8192
  int length = 0;
  mpi.get_version(text.data(), &length);
  const std::string_view version(text.data());
  if (version.starts_with("Open MPI")) return "openmpi";
  if (version.starts_with("MPICH")) return "mpich";
  unavailable("no plug-in for the MPI of this process, " + mpi.file + ", which calls itself '" +
              std::string(version.substr(0, version.find('\n'))) +
              "'; use Open MPI or MPICH (Debian: libopenmpi-dev, libmpich-dev)");
}

/// What distinguishes the two kinds of plug-ins.
struct Kind {
  const char* prefix;  ///< of the file's name, before the MPI's
  const char* entry;   ///< the function that it exports
  const char* package; ///< of Debian, with the MPI's name in place of %
  std::uint32_t abi_version;
};
constexpr Kind mpi_kind{"libtessera_mpi_", mpi_plugin_entry_name, "lib%-dev", mpi_plugin_abi_version};
constexpr Kind scalapack_kind{"libtessera_scalapack_", scalapack_entry_name, "libscalapack-%-dev",
                              scalapack_plugin_abi_version};

std::string package_of(const Kind& kind, std::string_view mpi) {
  std::string package = kind.package;
  return package.replace(package.find('%'), 1, mpi);
}

/// Finds, opens and checks the plug-in for an MPI.
template <class Info>
const Info& load(const Kind& kind, std::string_view mpi) {
  const std::string file = kind.prefix + std::string(mpi) + ".so";
  const std::vector<fs::path> folders = plugin_folders();
  const fs::path path = first_file(folders, file);
  if (path.empty())
    unavailable("no " + file + " in " + joined(folders) + "; build Tessera where it is installed (Debian: " +
                package_of(kind, mpi) + "), or name the file's folder in TESSERA_PLUGIN_PATH");
  const tessera::detail::ContractArithmetic contract;
  const OpenedLibrary opened = open_library(path, kind.entry, "plug-in for MPI");
  if (opened.function == nullptr) unavailable(opened.reason);
  const Info* info = reinterpret_cast<const Info* (*)()>(opened.function)();
  std::string why =
      info != nullptr ? header_mismatch(*info, "description", kind.abi_version) : "its entry point returned null";
  if (why.empty() && mpi != info->name) why = "it calls itself '" + std::string(info->name) + "'";
  if (why.empty() && info->bound_to != &library_mark)
    why = "it is bound to another copy of libtessera, " + file_of(info->bound_to) + "; load only one of them";
  if (!why.empty()) unavailable("cannot use " + path.string() + ": " + why);
  if (log_dispatch()) log_line("MPI: " + path.string());
  return *info;
}

/// Loads a plug-in once.
template <class Info>
const Info& loaded_once(const Kind& kind, std::string_view mpi) {
  static std::atomic<const Info*> loaded = nullptr; // no lock: a constructor in another thread may hold the loader's
  if (loaded == nullptr) loaded = &load<Info>(kind, mpi);
  return *loaded;
}

/// Returns "openmpi" or "mpich", whichever the process has loaded.
std::string_view loaded_mpi() {
  const std::vector<LoadedMpi> found = loaded_libraries();
  if (found.empty())
    unavailable(
        "this process has no MPI; link the program with one (Debian: libopenmpi-dev or libmpich-dev), call "
        "MPI_Init_thread, and start it by mpirun");
  if (found.size() > 1)
    unavailable("this process has two MPI libraries, " + found[0].file + " and " + found[1].file +
                ", and a communicator does not say to which one it belongs; load only one of them");
  return name_of(found[0]);
}

} // namespace

const MpiPluginInfo& mpi_of_process() { return loaded_once<MpiPluginInfo>(mpi_kind, loaded_mpi()); }

std::unique_ptr<Communicator> open_communicator(detail::MpiHandle comm, double time_limit) {
  const MpiPluginInfo& plugin = mpi_of_process();
  std::unique_ptr<Communicator> opened;
  Status status = plugin.open(comm.address, comm.size, time_limit, opened);
  if (!status.ok()) status.why = "grid: " + status.why;
  throw_if_failed(status);
  return opened;
}

const MpiPluginInfo& mpi_of_this_start() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return loaded_once<MpiPluginInfo>(mpi_kind, "openmpi");
  if (std::getenv("PMI_SIZE") != nullptr) return loaded_once<MpiPluginInfo>(mpi_kind, "mpich");
  unavailable(
      "this program was not started by the mpirun of Open MPI or MPICH (Debian: openmpi-bin, mpich); start it "
      "by mpirun -n RANKS");
}

const ScalapackInfo& load_scalapack() { return loaded_once<ScalapackInfo>(scalapack_kind, loaded_mpi()); }

} // namespace tessera::distributed
