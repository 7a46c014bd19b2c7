/// "Device code" for some operations of gemm_compare, which runs on the host, for a stand-in device whose memory is the
/// host's: triad and dot of double. STANDIN_FAULT in the environment chooses what goes wrong.

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <tessera/backend/build_tag.hpp>
#include <tessera/user_kernel/order.hpp>
#include <tessera/user_kernel/table.hpp>

#include "examples/user_kernels/babelstream.hpp"

namespace {

using namespace tessera;

bool fails_by(std::string_view fault) {
  const char* chosen = std::getenv("STANDIN_FAULT");
  return chosen != nullptr && chosen == fault;
}

int triad(const KernelLaunch& launch) noexcept {
  if (launch.op != KernelOp::ForEach || launch.dimensions != 1) return kernel_not_offered;
  if (fails_by("fails")) return 700;
  const auto& f = *static_cast<const stream::Triad<double>*>(launch.functor);
  for (Index i = fails_by("unwritten") ? 1 : 0; i < launch.cols; ++i) f(i);
  if (fails_by("other_bits")) f.a(3) = std::nextafter(f.b(3) + f.scalar * f.c(3), 9.0);
  if (fails_by("nan")) f.a(5) = NAN;
  return 0;
}

int dot(const KernelLaunch& launch) noexcept {
  if (launch.op != KernelOp::Sum || launch.dimensions != 1) return kernel_not_offered;
  const auto& f = *static_cast<const stream::Dot<double>*>(launch.functor);
  std::vector<double> values, sums;
  for (Index i = 0; i < launch.cols; ++i) values.push_back(f(i));
  const detail::SumRule<double> rule;
  for (Index first = 0; first < launch.cols; first += detail::chunk_values)
    sums.push_back(
        detail::fold_values(rule, values.data() + first, std::min(detail::chunk_values, launch.cols - first)));
  const detail::KernelLevels levels = detail::kernel_levels(launch.cols, sizeof(double));
  double sum = detail::fold_levels(rule, sums.data(), static_cast<Index>(sums.size()));
  if (fails_by("other_bits")) sum += 1;
  *reinterpret_cast<double*>(static_cast<char*>(launch.scratch) + levels.values_at[levels.levels - 1]) = sum;
  return 0;
}

template <class F>
constexpr KernelEntry entry(int (*launch)(const KernelLaunch&) noexcept, std::uint32_t value) {
  return {F::name, sizeof(F), alignof(F), value, launch};
}
constexpr KernelEntry entries[] = {entry<stream::Triad<double>>(triad, 0), entry<stream::Dot<double>>(dot, 0)};

constexpr KernelTable table{sizeof(KernelTable), kernel_table_abi,
                            TESSERA_BUILD_TAG,   entries,
                            std::size(entries),  [](int) noexcept { return "the stand-in failed"; }};

} // namespace

extern "C" __attribute__((visibility("default"))) const tessera::KernelTable* tessera_user_kernels() noexcept {
  return &table;
}
