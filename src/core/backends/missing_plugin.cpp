#include "missing_plugin.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// This libtessera was configured without the plug-in.
std::string not_built(const BuildFacts& build, const PluginFacts& words) {
  const bool left_out = words.built == Built::LeftOut;
  const std::string why =
      left_out ? std::string(" (") + words.option + "=OFF); " : std::string(": ") + words.needs + " was not found; ";
  const std::string without = std::string(" built without ") + words.title + why + words.purpose;
  switch (build.packaging) {
    case Packaging::Wheel:
      return "this wheel was" + without + "install a wheel that has it, or build one where " + words.needs +
             " is (./tessera wheel DIR)";
    case Packaging::Debian:
      return "these Debian packages were" + without + "build packages where " + words.needs + " is (./tessera deb DIR)";
    case Packaging::BuildOrPrefix:
      break;
  }
  if (left_out)
    return "Tessera was" + without + "build it again where " + words.needs + " is, with " + words.option + "=ON";
  return "Tessera was" + without + words.install + " and build Tessera again";
}

/// The plug-in was built, but its file is not where this libtessera looks.
std::string not_here(const BuildFacts& build, const PluginFacts& words) {
  const std::string path = ", or name the folder of its file in TESSERA_PLUGIN_PATH";
  switch (build.packaging) {
    case Packaging::Wheel:
      return "a file of this wheel is missing; install it again (pip install --force-reinstall)" + path;
    case Packaging::Debian:
      if (words.package.empty())
        return "a file of the package " + build.library_package + " is missing; sudo apt install --reinstall " +
               build.library_package;
      return std::string("the package ").append(words.package) + " is not installed; sudo apt install " +
             std::string(words.package) + ", or ./" + std::string(words.package) +
             "_*.deb from where Tessera's other packages came";
    case Packaging::BuildOrPrefix:
      break;
  }
  return "its plug-in was not built yet or not installed; build the target tessera_" + std::string(words.backend) +
         path;
}

} // namespace

std::string missing_plugin(const BuildFacts& build, std::string_view backend, const std::string& file,
                           const std::string& folders, bool named_folders) {
  const auto words = std::find_if(build.plugins.begin(), build.plugins.end(),
                                  [&](const PluginFacts& one) { return one.backend == backend; });
  if (words == build.plugins.end())
    return "no " + file + " in " + folders + "; build it, or name its folder in TESSERA_PLUGIN_PATH";
  const bool was_built = words->built == Built::Yes;
  const bool should_be_there = was_built && build.packaging != Packaging::Debian;
  return (was_built ? not_here(build, *words) : not_built(build, *words)) + " (no " + file +
         (should_be_there || named_folders ? " in " + folders : "") + ")";
}

} // namespace tessera
