/// Panels that MPI takes from and puts into the memory of the backends that multiply. Here that is memory of the host,
/// which every MPI takes; device.cpp has a stand-in for a GPU.

#include <array>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>

#include "mpi_traffic.hpp"
#include "ranks.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

struct Case {
  int rows, cols, layers;
  Blocks blocks_of_a, blocks_of_b;
};

/// Returns a backend of the host; ranks have different ones where there are several.
Backend own_backend() {
  std::vector<Backend> hosts;
  for (const BackendInfo& info : available_backends())
    if (info.available && info.memory == Memory::Host) hosts.push_back(info.backend);
  return hosts[static_cast<std::size_t>(world_rank()) % hosts.size()];
}

/// Multiplies A by B, or by Bᴴ, and compares bits and bytes.
template <class T>
void check(const Case& on, bool transposed, LocalOrder order) {
  constexpr Index m = 37, n = 29, k = 4 * 1024 + 100;
  using Factor = DistributedFactor<T>;
  const Grid grid(MPI_COMM_WORLD, on.rows, on.cols, on.layers);
  const auto a = Whole<T>::random(m, k, Seed{1}), b = Whole<T>::random(transposed ? n : k, transposed ? k : n, Seed{2});
  DistributedMatrix<T> x(grid, m, k, on.blocks_of_a), y(grid, b.rows(), b.cols(), on.blocks_of_b, order);
  DistributedMatrix<T> c(grid, m, n), expected(grid, m, n);
  take_own_part(a, x);
  take_own_part(b, y);
  const auto multiply = [&](DistributedMatrix<T>& to, const DistributedOptions& options) {
    if constexpr (DistributedComplex<T>)
      if (transposed) return gemm(Factor(1), x, y.conjugate_transposed(), Factor(0), to, options);
    return transposed ? gemm(Factor(1), x, y.transposed(), Factor(0), to, options)
                      : gemm(Factor(1), x, y, Factor(0), to, options);
  };
  const DistributedOptions through_host{.backend = own_backend(), .engine = "summa", .threads = 1};
  DistributedOptions options = through_host;
  options.device_messages = true;
  const DistributedReport usual = multiply(expected, through_host), first = multiply(c, options);
  std::fill_n(c.data(), c.local_rows() * c.local_cols(), T{});
  mpi_traffic() = {};
  const DistributedReport report = multiply(c, options);
  const MpiTraffic traffic = mpi_traffic();
  BOOST_TEST_CONTEXT(on.rows << "×" << on.cols << "×" << on.layers << ", rank " << grid.rank()) {
    BOOST_TEST(differing_elements(expected, c) == 0);
    BOOST_TEST(report.bytes_received == usual.bytes_received);
    BOOST_TEST(report.bytes_received == report.bytes_expected);
    BOOST_TEST(report.bytes_received == traffic.received);
    BOOST_TEST(report.allocated_bytes == report.planned_bytes);
    BOOST_TEST(report.broadcasts == 0U);
    BOOST_TEST(usual.agreements < report.agreements);
    BOOST_TEST(report.agreements < first.agreements); // MPI was tried at the first use
  }
}

/// A product on 2×2 ranks, and what becomes of C.
struct OnSquare {
  Grid grid{MPI_COMM_WORLD, 2, 2};
  Matrix<float> whole_c = Matrix<float>::random(40, 30, Seed{3});
  DistributedMatrix<float> a{grid, 40, 1500}, b{grid, 1500, 30}, c{grid, 40, 30};
  DistributedOptions options{.backend = own_backend(), .threads = 1, .device_messages = true};

  OnSquare() {
    take_own_part(Matrix<float>::random(40, 1500, Seed{1}), a);
    take_own_part(Matrix<float>::random(1500, 30, Seed{2}), b);
    take_own_part(whole_c, c);
  }
  /// After a refusal the product works on the same grid, through the host and, when MPI does it, without.
  ~OnSquare() {
    BOOST_TEST(differing_bits(whole_c, c) == 0);
    mpi_on_devices() = {};
    DistributedMatrix<float> other(grid, 40, 30);
    BOOST_TEST(gemm(1.0F, a, b, 0.0F, c, {.threads = 1}).bytes_received > 0U);
    gemm(1.0F, a, b, 0.0F, other, options);
    BOOST_TEST(differing_elements(c, other) == 0);
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(device_messages)

BOOST_AUTO_TEST_CASE(bits_and_bytes_are_the_same_as_through_the_host) {
  for (const Case& on : {Case{2, 2, 1, {}, {}}, Case{1, 4, 1, {}, {}}, Case{4, 1, 1, {}, {}}, Case{1, 3, 1, {}, {}},
                         Case{2, 2, 1, {0, 24}, {24, 0}},     // several ranks broadcast parts of a segment
                         Case{2, 2, 1, {0, 1024}, {1024, 0}}, // one rank has a whole segment
                         Case{2, 2, 1, {7, 100}, {30, 5}},    // operands move first
                         Case{1, 2, 2, {}, {}}, Case{2, 1, 2, {0, 24}, {24, 0}}}) {
    check<float>(on, false, LocalOrder::RowMajor);
    check<bf16>(on, true, LocalOrder::RowMajor);
    check<std::complex<double>>(on, true, LocalOrder::ColumnMajor);
  }
}

/// The messages of one rank do not arrive as they were sent.
BOOST_FIXTURE_TEST_CASE(an_mpi_that_changes_bytes_is_refused, OnSquare) {
  mpi_on_devices().changes_messages = world_rank() == 1;
  for (int call = 0; call < 2; ++call)
    expect_error<BackendUnavailable>([&] { gemm(1.0F, a, b, 1.0F, c, options); },
                                     {"device_messages: rank 0: byte 512 of 1024, which rank 1 of the process row",
                                      "did not arrive", "leave device_messages out", "works with every MPI"});
}

BOOST_FIXTURE_TEST_CASE(ranks_that_disagree, OnSquare) {
  options.device_messages = world_rank() != 2;
  expect_error<InvalidArgument>([&] { gemm(1.0F, a, b, 1.0F, c, options); }, {"disagree on device_messages"});
  options.device_messages = true;
}

BOOST_FIXTURE_TEST_CASE(an_engine_that_sends_by_itself, OnSquare) {
  options.engine = "pblas";
  expect_error<KernelRejected>([&] { gemm(1.0F, a, b, 1.0F, c, options); }, {"pblas", "device_messages"});
  options.engine.clear();
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
