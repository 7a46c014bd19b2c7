/// A main for Boost.Test on every rank of an MPI program. A rank whose checks failed ends with a status that is not 0,
/// which mpirun passes on. The ranks print to one stream, so each one says its number first.

#include <mpi.h>
#include <cstdio>

#include <boost/test/unit_test.hpp>

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int failed = boost::unit_test::unit_test_main([] { return true; }, argc, argv);
  if (failed != 0) std::printf("rank %d failed\n", rank);
  MPI_Finalize();
  return failed;
}
