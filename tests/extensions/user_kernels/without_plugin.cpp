#undef TESSERA_USER_KERNELS

#include "device.hpp"

#include <tessera/backend.hpp>
#include <tessera/user_kernel/user_kernel.hpp>

namespace tessera::test {
namespace {

struct Fill {
  static constexpr char name[] = "fill";
  Out<float> y;
  TESSERA_FN void operator()(Index i) const { y(i) = 1.0f; }
};

} // namespace

void run_without_plugin() {
  Matrix<float> y(1, 10);
  for_each(executor(Backend::Cuda), 10, Fill{write(y, executor(Backend::Cuda))});
}

} // namespace tessera::test
