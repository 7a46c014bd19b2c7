#pragma once

/// Says why a plug-in of the list is not there and what the user can do, as this libtessera was built and installed.

#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// What the configuration of this libtessera made of a plug-in.
enum class Built {
  Yes,
  LeftOut, ///< TESSERA_<BACKEND>=OFF
  NotFound ///< what it needs was not there
};

/// How this libtessera came to the machine.
enum class Packaging { BuildOrPrefix, Wheel, Debian };

/// A plug-in that Tessera ships, in the words of a sentence. cmake/TesseraBackends.cmake lists them.
struct PluginFacts {
  Built built;
  std::string_view backend;
  const char* option;       ///< CMake's
  const char* title;        ///< what the plug-in is for
  const char* needs;        ///< what must be there to build it
  const char* install;      ///< how the user gets that
  const char* purpose;      ///< for which users the advice is
  std::string_view package; ///< the Debian package that it has of its own; empty: the library's has it
};

struct BuildFacts {
  std::span<const PluginFacts> plugins;
  Packaging packaging = Packaging::BuildOrPrefix;
  std::string library_package{}; ///< the name of the Debian package of libtessera
};

/// Returns what CMake knew when it configured this libtessera.
BuildFacts this_build();

/// Returns one sentence with the reason and the advice. `folders` are where `file` was looked for; they are named where
/// the file should be there, or where the user `named_folders`. A backend that is not in the list gets the folders and
/// a general advice.
std::string missing_plugin(const BuildFacts& build, std::string_view backend, const std::string& file,
                           const std::string& folders, bool named_folders);

} // namespace tessera
