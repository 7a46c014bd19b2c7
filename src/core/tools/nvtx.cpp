/// The tool behind TESSERA_PROFILE=nvtx: each operation is a range in the domain "tessera", which Nsight Systems and
/// other tools of NVIDIA show on the thread that does it. Without such a tool a range costs next to nothing.
///
/// Source: NVTX 3, which is headers only and comes with the CUDA toolkit.

#include "built_in.hpp"

#include <tessera/status.hpp>

#if defined(TESSERA_HAVE_NVTX)

#include <nvtx3/nvToolsExt.h>
#include <cstdio>

namespace tessera::tools {
namespace {

nvtxDomainHandle_t domain() noexcept {
  static const nvtxDomainHandle_t made = nvtxDomainCreateA("tessera");
  return made;
}

/// Writes "stream_k f32 4096×4096×4096" or "copy_in 64 MB" as far as it fits.
void describe(const Operation& operation, char* text, std::size_t size) noexcept {
  const std::string_view type = to_string(operation.type);
  const auto number = [](Index x) { return static_cast<long long>(x); };
  switch (operation.kind) {
    case Kind::Product:
    case Kind::Verify:
    case Kind::Repair:
      std::snprintf(text, size, "%s %s %lldx%lldx%lld", operation.name, type.data(), number(operation.m),
                    number(operation.n), number(operation.k));
      break;
    case Kind::Batch:
      std::snprintf(text, size, "%s %s %lld of %lldx%lldx%lld", operation.name, type.data(), number(operation.count),
                    number(operation.m), number(operation.n), number(operation.k));
      break;
    case Kind::ElementWise:
    case Kind::Reduction:
    case Kind::Panel:
      std::snprintf(text, size, "%s %s %lldx%lld", operation.name, type.data(), number(operation.m),
                    number(operation.n));
      break;
    default:
      std::snprintf(text, size, "%s %llu bytes", operation.name, static_cast<unsigned long long>(operation.bytes));
  }
}

void begin(const Operation& operation, void*) noexcept {
  char text[160];
  describe(operation, text, sizeof text);
  nvtxEventAttributes_t attributes{};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = text;
  attributes.category = static_cast<std::uint32_t>(operation.kind) + 1;
  nvtxDomainRangePushEx(domain(), &attributes);
}

void end(const Operation&, StatusCode, void*) noexcept { nvtxDomainRangePop(domain()); }

} // namespace

Tool nvtx_tool() {
  Tool tool;
  tool.name = "nvtx";
  tool.begin = begin;
  tool.end = end;
  return tool;
}

} // namespace tessera::tools

#else

namespace tessera::tools {

Tool nvtx_tool() {
  throw InvalidArgument(
      "TESSERA_PROFILE: this libtessera was built without NVTX; build it with a CUDA toolkit, which has "
      "nvtx3/nvToolsExt.h, or take TESSERA_PROFILE=summary");
}

} // namespace tessera::tools

#endif
