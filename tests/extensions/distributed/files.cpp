/// .npy files that the ranks read and write together.

#include <sys/resource.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/interop/io.hpp>

#include "extensions/out_of_core/system_calls.hpp"
#include "ranks.hpp"
#include "shared_folder.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

/// While it lives, this process cannot write beyond so many bytes of a file: writing then fails, as on a disk that is
/// full.
class ShortFiles {
 public:
  explicit ShortFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ShortFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  ShortFiles(const ShortFiles&) = delete;
  ShortFiles& operator=(const ShortFiles&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

} // namespace

BOOST_AUTO_TEST_CASE(a_matrix_is_saved_and_loaded_in_parallel) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const auto whole = Matrix<double>::random(37, 53, Seed{1});
  for (const auto order : {LocalOrder::RowMajor, LocalOrder::ColumnMajor}) {
    DistributedMatrix<double> x(grid, 37, 53, {5, 7}, order);
    take_own_part(whole, x);
    x.save_npy(folder / "x.npy");
    if (world_rank() == 0) {
      const auto read = load_npy<double>(folder / "x.npy");
      BOOST_TEST(detail::equal(read.view().operand(), whole.view().operand()));
    }
    BOOST_TEST(differing_bits(whole, DistributedMatrix<double>::load_npy(grid, folder / "x.npy", {4, 60}, order)) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_file_in_fortran_order_is_loaded) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 4, 1);
  const auto whole = Matrix<float>::random(11, 6, Seed{2});
  if (world_rank() == 0) {
    std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (11, 6), }";
    header.append(117 - header.size(), ' ').push_back('\n');
    std::ofstream file(folder / "f.npy", std::ios::binary);
    file.write("\x93NUMPY\x01\x00", 8).put(static_cast<char>(header.size())).put(0) << header;
    for (Index j = 0; j < 6; ++j)
      for (Index i = 0; i < 11; ++i)
        file.write(reinterpret_cast<const char*>(&std::as_const(whole)(i, j)), sizeof(float));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  BOOST_TEST(differing_bits(whole, DistributedMatrix<float>::load_npy(grid, folder / "f.npy", {2, 2})) == 0);
}

template <class T>
void save_and_load(const SharedFolder& folder) {
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const auto whole = Whole<T>::random(13, 9, Seed{3});
  DistributedMatrix<T> x(grid, 13, 9, {3, 2}, LocalOrder::ColumnMajor);
  take_own_part(whole, x);
  x.save_npy(folder / "t.npy");
  BOOST_TEST(differing_bits(whole, DistributedMatrix<T>::load_npy(grid, folder / "t.npy", {4, 4})) == 0);
}

BOOST_AUTO_TEST_CASE(elements_of_all_types_are_saved) {
  const SharedFolder folder;
  save_and_load<f16>(folder);
  save_and_load<bf16>(folder);
  save_and_load<std::complex<float>>(folder);
  const Grid grid(MPI_COMM_WORLD, 1, 1);
  expect_error<IoError>([&] { DistributedMatrix<std::complex<double>>::load_npy(grid, folder / "t.npy"); },
                        {"complex64", "complex128"});
  expect_error<IoError>([&] { DistributedMatrix<float>::load_npy(grid, folder / "t.npy"); }, {"complex64"});
  save_and_load<std::complex<double>>(folder);
}

BOOST_AUTO_TEST_CASE(errors_of_files_reach_all_ranks) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const DistributedMatrix<float> x(grid, 8, 8);
  expect_error<IoError>([&] { x.save_npy(folder / "missing/x.npy"); }, {"save_npy", "missing"});
  expect_error<IoError>([&] { DistributedMatrix<float>::load_npy(grid, folder / "none.npy"); },
                        {"load_npy", "none.npy"});
  const fs::path own = world_rank() == 2 ? folder / "none.npy" : folder / "x.npy";
  x.save_npy(folder / "x.npy");
  expect_error<IoError>([&] { DistributedMatrix<float>::load_npy(grid, own); }, {"rank 2", "none.npy"});
  expect_error<IoError>([&] { DistributedMatrix<double>::load_npy(grid, folder / "x.npy"); }, {"f32", "f64"});
}

/// The last rank's elements lie after the first 8 KiB of the file. It fails in the middle, when other ranks have
/// written theirs.
BOOST_AUTO_TEST_CASE(a_disk_that_is_full_for_one_rank_leaves_the_file_as_it_was) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 4, 1);
  const auto before = Matrix<double>::random(64, 64, Seed{4}), after = Matrix<double>::random(64, 64, Seed{5});
  DistributedMatrix<double> x(grid, 64, 64, {16, 16});
  take_own_part(before, x);
  x.save_npy(folder / "x.npy");
  take_own_part(after, x);
  {
    const ShortFiles files(world_rank() == 3 ? 8192 : RLIM_INFINITY);
    expect_error<IoError>([&] { x.save_npy(folder / "x.npy"); }, {"rank 3", "cannot be written", "File too large"});
  }
  BOOST_TEST(differing_bits(before, DistributedMatrix<double>::load_npy(grid, folder / "x.npy", {4, 4})) == 0);
  if (world_rank() == 0) BOOST_TEST(std::distance(fs::directory_iterator(folder / ""), {}) == 1);
  MPI_Barrier(MPI_COMM_WORLD);
  x.save_npy(folder / "x.npy");
  BOOST_TEST(differing_bits(after, DistributedMatrix<double>::load_npy(grid, folder / "x.npy", {4, 4})) == 0);
}

BOOST_AUTO_TEST_CASE(a_file_that_ends_too_early_reaches_no_rank) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const DistributedMatrix<double> x(grid, 32, 32, {4, 4});
  x.save_npy(folder / "x.npy");
  if (world_rank() == 0) fs::resize_file(folder / "x.npy", fs::file_size(folder / "x.npy") - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  expect_error<IoError>([&] { DistributedMatrix<double>::load_npy(grid, folder / "x.npy"); },
                        {"load_npy", "x.npy", "truncated"});
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() == 0) fs::resize_file(folder / "x.npy", 20); // within the header
  MPI_Barrier(MPI_COMM_WORLD);
  expect_error<IoError>([&] { DistributedMatrix<double>::load_npy(grid, folder / "x.npy"); }, {"load_npy", "x.npy"});
}

/// Ranks that see unlike files, as on a file system that is not shared.
BOOST_AUTO_TEST_CASE(files_that_differ_on_the_ranks_are_noticed) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const DistributedMatrix<float> narrow(grid, 8, 6), wide(grid, 8, 7);
  narrow.save_npy(folder / "narrow.npy");
  wide.save_npy(folder / "wide.npy");
  const fs::path own = folder / (world_rank() == 1 ? "wide.npy" : "narrow.npy");
  expect_error<InvalidArgument>([&] { DistributedMatrix<float>::load_npy(grid, own); },
                                {"disagree on the columns of the file", "6", "7"});
}

/// The file gets other contents of the same shape after some of a rank's elements were read: in place, or by another
/// file that takes its name before a rank opens it.
BOOST_AUTO_TEST_CASE(contents_that_change_while_they_are_read) {
  const SharedFolder folder;
  const Grid grid(MPI_COMM_WORLD, 2, 2);
  const auto before = Matrix<double>::random(24, 20, Seed{6}), after = Matrix<double>::random(24, 20, Seed{7});
  DistributedMatrix<double> x(grid, 24, 20, {4, 4});
  take_own_part(before, x);
  x.save_npy(folder / "x.npy");
  const auto load = [&](const fs::path& path) { DistributedMatrix<double>::load_npy(grid, path, {3, 3}); };
  {
    const Fault changed(Call::Read, world_rank() == 1 ? 5 : 0, 0, [&] {
      std::fstream file(folder / "x.npy", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(-8, std::ios::end);
      file.write("changed!", 8);
    });
    expect_error<IoError>([&] { load(folder / "x.npy"); }, {"load_npy", "x.npy", "was changed while it was read"});
  }
  load(folder / "x.npy");
  take_own_part(after, x);
  x.save_npy(folder / "replaced.npy");
  expect_error<IoError>([&] { load(folder / (world_rank() == 2 ? "replaced.npy" : "x.npy")); },
                        {"load_npy", "disagree on the time of change of the file"});
}

} // namespace tessera::test
