#pragma once

/// Says why a plug-in of the list is not there and what the user can do, as this libtessera was built and installed.

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

struct BuildFacts {
  Built openmp = Built::Yes, tbb = Built::Yes, cuda = Built::Yes;
  Packaging packaging = Packaging::BuildOrPrefix;
  std::string cuda_package{}, library_package{}; ///< the names of the Debian packages with the plug-ins
};

/// Returns what CMake knew when it configured this libtessera.
BuildFacts this_build();

/// Returns one sentence with the reason and the advice. `folders` are where `file` was looked for; they are named where
/// the file should be there, or where the user `named_folders`. A backend that is not in the list gets the folders and
/// a general advice.
std::string missing_plugin(const BuildFacts& build, std::string_view backend, const std::string& file,
                           const std::string& folders, bool named_folders);

} // namespace tessera
