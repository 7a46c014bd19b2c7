#pragma once

/// The one list of the backends that Tessera knows by name. The registry, the words of every interface, the command
/// line and the reports read it; backends of other authors join it at run time, see <tessera/backend.hpp>.

#include <array>
#include <string_view>

#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Whose memory a backend's pointers name.
enum class Memory : int {
  Host = 0,  ///< ordinary memory of the process: nothing is ever copied
  Device = 1 ///< memory of the device: operands are copied there and results back
};

/// "host" or "device".
constexpr std::string_view to_string(Memory memory) noexcept { return memory == Memory::Host ? "host" : "device"; }

/// One line of the list.
struct BuiltInBackend {
  Backend backend = Backend::Reference; ///< the enumeration's value
  std::string_view name; ///< on the command line, in JSON and in the plug-in's file name; ends with a null character
  Memory memory = Memory::Host; ///< whose memory its pointers name
  int preference = 0;           ///< Backend::Auto takes the available backend with the largest one; 0: never
};

/// In the order of the enumeration's values, which are 1, 2, … without a gap.
inline constexpr std::array<BuiltInBackend, 5> built_in_backends{{
    {Backend::Reference, "reference", Memory::Host, 10},
    {Backend::OpenMP, "openmp", Memory::Host, 30},
    {Backend::Tbb, "tbb", Memory::Host, 20},
    {Backend::Cuda, "cuda", Memory::Device, 40},
    {Backend::OpenCl, "opencl", Memory::Device, 35},
}};

static_assert([] {
  for (std::size_t line = 0; line < built_in_backends.size(); ++line)
    if (static_cast<std::size_t>(built_in_backends[line].backend) != line + 1) return false;
  return true;
}());

/// Returns the line of a backend; null for Auto and for backends of other authors.
constexpr const BuiltInBackend* find_built_in(Backend backend) noexcept {
  for (const BuiltInBackend& line : built_in_backends)
    if (line.backend == backend) return &line;
  return nullptr;
}
/// Returns the line of a name; null for a name that is not in the list.
constexpr const BuiltInBackend* find_built_in(std::string_view name) noexcept {
  for (const BuiltInBackend& line : built_in_backends)
    if (line.name == name) return &line;
  return nullptr;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
