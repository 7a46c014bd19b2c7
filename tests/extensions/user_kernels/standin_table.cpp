/// A plug-in with "device code" that runs on the host, for a stand-in device whose memory is the host's. A definition
/// chooses one fault; without one it works.

#include <tessera/user_kernel/table.hpp>

#include "support/table_head.hpp"
#include "terms.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

int saxpy(const KernelLaunch& launch) noexcept {
  if (launch.op != KernelOp::ForEach || launch.dimensions != 2) return kernel_not_offered;
#if defined(LAUNCH_FAILS)
  return 700;
#endif
  const auto& f = *static_cast<const Saxpy*>(launch.functor);
  for (Index i = 0; i < launch.rows; ++i)
    for (Index j = 0; j < launch.cols; ++j) f(i, j);
  return 0;
}

int square(const KernelLaunch& launch) noexcept {
  if (launch.op != KernelOp::Sum || launch.dimensions != 2) return kernel_not_offered;
  const auto& f = *static_cast<const Square*>(launch.functor);
  const detail::KernelLevels levels = detail::kernel_levels(launch.rows * launch.cols, sizeof(double));
  double sum = 0;
  for (Index i = 0; i < launch.rows; ++i)
    for (Index j = 0; j < launch.cols; ++j) sum += f(i, j);
  *reinterpret_cast<double*>(static_cast<char*>(launch.scratch) + levels.values_at[levels.levels - 1]) = sum;
  return 0;
}

constexpr KernelEntry entries[] = {
#if defined(OTHER_FUNCTOR)
    {Saxpy::name, sizeof(Saxpy) + 8, alignof(Saxpy), 0, saxpy},
#else
    {Saxpy::name, sizeof(Saxpy), alignof(Saxpy), 0, saxpy},
#endif
    {Square::name, sizeof(Square), alignof(Square), 0, square},
};

constexpr KernelTable table {
  .struct_size = test::table_size(sizeof(KernelTable)), .abi_version = test::table_abi(kernel_table_abi),
  .build_tag = test::table_tag, .entries = entries,
#if defined(NO_FUNCTORS)
  .count = 0,
#else
  .count = 2,
#endif
  .error_text = [](int error) noexcept { return error == 700 ? "the stand-in failed" : "unknown"; },
};

} // namespace

#if defined(NO_SYMBOL)
#define ENTRY another_function
#else
#define ENTRY tessera_user_kernels
#endif

extern "C" __attribute__((visibility("default"))) const tessera::KernelTable* ENTRY() noexcept {
#if defined(NULL_TABLE)
  return nullptr;
#else
  return &table;
#endif
}
