/// Checks the conformance of one backend: tessera_conformance [Boost.Test's options] -- --backend=NAME [--quick]
/// [--part] [--every=N]; support/backend_main.hpp says with which exit status.

#include <boost/test/unit_test.hpp>

#include "support/backend_main.hpp"

#include "gemm_kernels.hpp"

namespace {

bool add_tests() {
  tessera::conformance::add_gemm_kernels(boost::unit_test::framework::master_test_suite());
  return true;
}

} // namespace

int main(int argc, char** argv) {
  return tessera::test::main_for_backend("tessera_conformance", argc, argv, add_tests);
}
