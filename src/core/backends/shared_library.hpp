#pragma once

/// Finds and opens shared libraries with plug-ins, of backends and of programs, and checks what they say about
/// themselves. Every failure keeps its reason.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/plugin.hpp>

namespace tessera {

/// Returns the folders of the library or program that an address lies in: the one under whose name it was loaded, and
/// the one that has the file, if that name is a link. Some systems of packages (Nix, conda) make environments of links,
/// each file a link to another folder. The list is empty where neither is known. The loader may know a library by a
/// relative name. The folder is then the one from which the library was loaded, not a folder below today's current
/// directory; the loader keeps it as the library's origin.
std::vector<std::filesystem::path> folders_of(const void* address);

/// Adds a folder to the list unless it is there already.
void add_folder(std::vector<std::filesystem::path>& folders, const std::filesystem::path& folder);

/// Returns the file that an address of a loaded library lies in.
std::string file_of(const void* address);

/// Returns the names with ", " between them.
std::string joined(const std::vector<std::filesystem::path>& folders);

/// Returns the path of the file in the first folder that has it; empty where none has.
std::filesystem::path first_file(const std::vector<std::filesystem::path>& folders, const std::string& file);

struct OpenedLibrary {
  void* function = nullptr;        ///< the function that was asked for
  std::string reason;              ///< why it is null
  bool is_another_library = false; ///< the file is a library without the function; it was closed again
};

/// Opens a library, which is never closed, and finds a function of it. It is opened with RTLD_LOCAL, so that the
/// symbols of its dependencies do not replace symbols of other libraries. `kind` says what it should be. Throws
/// OutOfMemory where the file could not be loaded for lack of memory, and std::bad_alloc.
OpenedLibrary open_library(const std::filesystem::path& path, const char* function, std::string_view kind);

/// Says that a plug-in is bound to another copy of libtessera, whose functions it would call, if its mark is not this
/// copy's; empty if it is.
std::string bound_elsewhere(const void* mark);

/// Says what is wrong with the first three fields of a plug-in's description; empty if nothing is. They are read in
/// order up to the first one that disagrees, because the fields after it may not exist.
template <class Info>
std::string header_mismatch(const Info& info, const std::string& type, std::uint32_t abi_version) {
  if (info.struct_size != sizeof(Info))
    return "its " + type + " has " + std::to_string(info.struct_size) + " bytes, this libtessera expects " +
           std::to_string(sizeof(Info)) + "; rebuild the plug-in against this version";
  if (info.abi_version != abi_version)
    return "it was built for plug-in ABI " + std::to_string(info.abi_version) + ", this libtessera has ABI " +
           std::to_string(abi_version) + "; rebuild the plug-in against this version";
  if (info.build_tag == nullptr || std::strcmp(info.build_tag, TESSERA_BUILD_TAG) != 0)
    return "it was built with '" + std::string(info.build_tag ? info.build_tag : "(none)") +
           "', this libtessera with '" + TESSERA_BUILD_TAG +
           "'; build both with the same compiler family and standard library";
  return {};
}

} // namespace tessera
