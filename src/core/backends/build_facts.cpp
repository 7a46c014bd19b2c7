/// What CMake knew when it configured this libtessera. src/core/CMakeLists.txt defines the words.

#include <algorithm>
#include <iterator>

#include <tessera/backend_list.hpp>

#include "missing_plugin.hpp"

namespace tessera {
namespace {

constexpr PluginFacts plugins[]{TESSERA_PLUGIN_FACTS};

static_assert(
    std::equal(std::begin(plugins), std::end(plugins), std::next(built_in_backends.begin()), built_in_backends.end(),
               [](const PluginFacts& plugin, const BuiltInBackend& line) { return plugin.backend == line.name; }),
    "cmake/TesseraBackends.cmake must name the backends of tessera/backend_list.hpp after the reference");

} // namespace

BuildFacts this_build() { return {plugins, TESSERA_PACKAGING, TESSERA_LIBRARY_PACKAGE}; }

} // namespace tessera
