/// Distributed matrices in a program without MPI. tests/extensions/distributed has the programs with it.

#include <boost/test/unit_test.hpp>

#include <string_view>
#include <vector>

#include <tessera/distributed/distributed.hpp>

#include "support/expect.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_CASE(a_grid_without_mpi_says_what_to_install) {
  expect_error<BackendUnavailable>([] { Grid(0, 1, 1); }, {"no MPI", "libopenmpi-dev", "mpirun"});
  expect_error<BackendUnavailable>([] { MpiSession(); }, {"not started by the mpirun", "openmpi-bin"});
}

BOOST_AUTO_TEST_CASE(the_engines_are_listed_without_mpi) {
  std::vector<std::string_view> names, canonical;
  for (const DistributedEngine& engine : distributed_engines()) {
    BOOST_TEST(!engine.summary.empty());
    names.push_back(engine.name);
    if (engine.canonical) canonical.push_back(engine.name);
  }
  BOOST_TEST((names == std::vector<std::string_view>{"summa", "pblas", "cublasmp", "cublasxt"}));
  BOOST_TEST((canonical == std::vector<std::string_view>{"summa", "pblas"}));
}

} // namespace tessera::test
