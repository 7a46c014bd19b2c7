/// The "device code" of one twin, for a stand-in device whose memory is the host's. It adds TWIN, so that it shows
/// whose code ran.

#include <tessera/backend/build_tag.hpp>
#include <tessera/user_kernel/table.hpp>

#include "twin.hpp"

namespace {

using namespace tessera;

int launch(const KernelLaunch& launch) noexcept {
  const auto& f = *static_cast<const Twin*>(launch.functor);
  for (Index i = 0; i < launch.cols; ++i) f.y(i) = f.factor * f.x(i) + TWIN;
  return 0;
}

constexpr KernelEntry entry{Twin::name, sizeof(Twin), alignof(Twin), 0, launch};
constexpr KernelTable table{
    sizeof(KernelTable), kernel_table_abi, TESSERA_BUILD_TAG, &entry, 1, [](int) noexcept { return "unknown"; }};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::KernelTable* tessera_user_kernels() noexcept {
  return &table;
}
