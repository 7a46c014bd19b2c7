/// Products of so many tiles that stream_k cuts some between two blocks: the bits must be those of async_copy, which
/// gives a tile to one block, and which conformance compares with the reference on small products.

#include <algorithm>
#include <cstring>
#include <string>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

using namespace tessera;

namespace {

template <class T>
void check_bits(Index m, Index n, Index k, Op op_a, Op op_b) {
  const auto stored = [](Op op, Index rows, Index cols, Seed seed) {
    return op == Op::None ? Matrix<T>::random(rows, cols, seed) : Matrix<T>::random(cols, rows, seed);
  };
  const Matrix<T> a = stored(op_a, m, k, Seed{1});
  const Matrix<T> b = stored(op_b, k, n, Seed{2});
  const auto product = [&](const std::string& kernel) {
    Matrix<T> c = Matrix<T>::random(m, n, Seed{3});
    gemm(T(1.5), op_a == Op::None ? a.view() : a.transposed(), op_b == Op::None ? b.view() : b.transposed(), T(0.5), c,
         {.backend = Backend::Cuda, .kernel = kernel});
    return c;
  };
  const Matrix<T> expected = product("async_copy");
  const Matrix<T> shared_out = product("stream_k");
  Index different = 0;
  for (Index i = 0; i < m; ++i)
    different +=
        std::memcmp(expected.row(i).data(), shared_out.row(i).data(), static_cast<std::size_t>(n) * sizeof(T)) != 0;
  BOOST_TEST(different == 0, m << "x" << n << "x" << k << ", " << to_string(op_a) << ", " << to_string(op_b) << ": "
                               << different << " rows differ");
}

using Types = boost::mpl::list<float, double>;

} // namespace

BOOST_AUTO_TEST_SUITE(cut_tiles)

BOOST_AUTO_TEST_CASE_TEMPLATE(tiles_that_are_cut_keep_their_bits, T, Types) {
  const auto kernels = executor(Backend::Cuda).gemm_kernels();
  const GemmKernel& row = *std::find_if(kernels.begin(), kernels.end(),
                                        [](const GemmKernel& r) { return r.name == std::string("stream_k"); });
  if (row.reject({}, {}, executor(Backend::Cuda).capabilities()) != nullptr) return; // other devices have no such row
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) check_bits<T>(2200, 2304, 1100, op_a, op_b);
  check_bits<T>(2201, 2303, 2500, Op::None, Op::None); // unaligned, edges in both directions
  check_bits<T>(1001, 900, 5000, Op::None, Op::None);  // k cut at the segments, and tiles cut as well
  check_bits<T>(1536, 1536, 1536, Op::None, Op::None); // segments of different length
  check_bits<T>(1000, 1000, 1000, Op::None, Op::None);
  check_bits<T>(60, 4000, 4100, Op::None, Op::Transpose);
}

BOOST_AUTO_TEST_SUITE_END()
