/// What goes wrong around a product, each in processes of its own: MPI is not initialised, or without threads, there
/// are two of them, or a rank ends in the middle. The program prints what was thrown, and CTest looks for it.

#include <dlfcn.h>
#include <mpi.h>
#include <sys/time.h>
#include <unistd.h>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <thread>

#include <tessera/distributed/distributed.hpp>

namespace {

using namespace tessera;

template <class Action>
int print_error(Action&& action) try {
  action();
  std::puts("threw nothing");
  return 1;
} catch (const InvalidArgument& error) {
  std::printf("threw InvalidArgument: %s\n", error.what());
  return 0;
} catch (const BackendUnavailable& error) {
  std::printf("threw BackendUnavailable: %s\n", error.what());
  return 0;
}

int uninitialised() {
  return print_error([] { Grid(MPI_COMM_WORLD, 1, 1); });
}

int finalised(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return print_error([] { Grid(MPI_COMM_WORLD, 1, 1); });
}

int without_threads(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 0;
  {
    const Grid grid(MPI_COMM_WORLD, 1, 1);
    DistributedMatrix<float> a(grid, 8, 8), c(grid, 8, 8);
    if (grid.rank() == 0)
      for (Index i = 0; i < 64; ++i) a.data()[i] = 1;
    gemm(1.0F, a, a, 0.0F, c, {.threads = 1}); // one thread is allowed
    result = print_error([&] { gemm(1.0F, a, a, 0.0F, c, {.threads = 2}); });
  }
  MPI_Finalize();
  return result;
}

/// MPI allows one thread to call it, and another one makes a grid, and multiplies.
int second_thread(int argc, char** argv) {
  int provided = 0, result = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  {
    const Grid grid(MPI_COMM_WORLD, 1, 1);
    DistributedMatrix<float> a(grid, 8, 8), c(grid, 8, 8);
    std::thread([&] {
      result = print_error([] { Grid(MPI_COMM_WORLD, 1, 1); });
      result += print_error([&] { gemm(1.0F, a, a, 0.0F, c); });
    }).join();
    gemm(1.0F, a, a, 0.0F, c); // the first thread goes on
  }
  MPI_Finalize();
  return result;
}

int two_mpis(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (dlopen(argv[2], RTLD_NOW | RTLD_LOCAL) == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  const int result = print_error([] { Grid(MPI_COMM_WORLD, 1, 1); });
  MPI_Finalize();
  return result;
}

extern "C" void end_at_once(int) { kill(getpid(), SIGKILL); }
extern "C" void fall_silent(int) {
  for (unsigned left = 6; left > 0;) left = sleep(left); // longer than the time limit of the grid
  _exit(0);
}

/// Rank 1 is killed, or falls silent, while products run. The other ranks must get a DeviceError within the time limit,
/// with C as it was. Each rank writes to a file of its own, because mpirun may end before it has passed on what ranks
/// print.
int lost_rank(int argc, char** argv, void (*lose)(int)) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  constexpr Index size = 512;
  Grid grid(MPI_COMM_WORLD, 2, 2, 1, 3.0);
  if (std::freopen((std::string(argv[2]) + "/rank" + std::to_string(grid.rank())).c_str(), "w", stdout) == nullptr)
    return 1;
  DistributedMatrix<double> a(grid, size, 4 * size), b(grid, 4 * size, size), c(grid, size, size);
  const auto fill = [](DistributedMatrix<double>& x, double value) {
    for (Index i = 0; i < x.local_rows() * x.local_cols(); ++i) x.data()[i] = value;
  };
  fill(a, 1);
  fill(b, 1);
  if (grid.rank() == 1) {
    std::signal(SIGALRM, lose);
    itimerval timer{};
    timer.it_value.tv_usec = 300000;
    setitimer(ITIMER_REAL, &timer, nullptr);
  }
  for (int product = 0; product < 100000; ++product) {
    fill(c, std::numeric_limits<double>::quiet_NaN());
    try {
      gemm(1.0, a, b, 0.0, c, {.threads = 1});
    } catch (const DeviceError& error) {
      bool whole = true;
      for (Index i = 0; i < c.local_rows() * c.local_cols(); ++i) whole = whole && std::isnan(c.data()[i]);
      std::printf("threw DeviceError, c is %s: %s\n", whole ? "unchanged" : "partly written", error.what());
      try {
        gemm(1.0, a, b, 0.0, c);
      } catch (const DeviceError&) {
        std::puts("the next product failed at once");
      }
      std::fflush(stdout);
      sleep(1); // MPICH's mpirun ends the other ranks when one ends without MPI_Finalize
      _exit(0); // MPI_Finalize would wait for the rank that is lost
    }
    for (Index i = 0; i < c.local_rows() * c.local_cols(); ++i)
      if (c.data()[i] != 4 * size) {
        std::puts("a product is not whole");
        _exit(1);
      }
  }
  return 1;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view fault = argc > 1 ? argv[1] : "";
  if (fault == "uninitialised") return uninitialised();
  if (fault == "finalised") return finalised(argc, argv);
  if (fault == "without_threads") return without_threads(argc, argv);
  if (fault == "second_thread") return second_thread(argc, argv);
  if (fault == "two_mpis" && argc > 2) return two_mpis(argc, argv);
  if (fault == "killed_rank" && argc > 2) return lost_rank(argc, argv, end_at_once);
  if (fault == "silent_rank" && argc > 2) return lost_rank(argc, argv, fall_silent);
  std::puts(
      "usage: faults uninitialised|finalised|without_threads|second_thread|two_mpis LIBRARY|killed_rank FOLDER|"
      "silent_rank FOLDER");
  return 2;
}
