/// The contract of the modes of matrix units: where k is cut, the reference's kernel against loops over the model's
/// steps, and the kernels with vectors against the model, on numbers of all sizes.

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/performance/tuning.hpp>
#include <tessera/random.hpp>
#include <tessera/tessera.hpp>

#include "support/every_test.hpp"
#include "support/matrix_unit_modes.hpp"

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

namespace {

bool same(float x, float y) {
  return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (std::isnan(x) && std::isnan(y));
}

/// Returns the numbers of a line of an operand, as the mode sees them.
template <class M, class Element>
std::vector<float> seen(Index k, Element element) {
  std::vector<float> line;
  for (Index p = 0; p < k; ++p) line.push_back(hopper::seen_by_matrix_units(element(p), M::math));
  return line;
}

/// The backends with vectors that exist here.
std::vector<Backend> vector_backends() {
  std::vector<Backend> found;
  for (const BackendInfo& info : available_backends())
    if (info.available && (info.backend == Backend::OpenMP || info.backend == Backend::Tbb))
      found.push_back(info.backend);
  return found;
}

/// Compares the kernels with vectors with the model, element by element.
template <class M, class T = typename M::Element>
void check_rows(const Matrix<T>& a, const Matrix<T>& b, const std::string& what) {
  std::vector<std::vector<float>> rows, cols;
  for (Index i = 0; i < a.rows(); ++i) rows.push_back(seen<M>(a.cols(), [&](Index p) { return a(i, p); }));
  for (Index j = 0; j < b.cols(); ++j) cols.push_back(seen<M>(b.rows(), [&](Index p) { return b(p, j); }));
  Matrix<float> expected(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j)
      expected(i, j) =
          hopper::contract_sum(rows[static_cast<std::size_t>(i)], cols[static_cast<std::size_t>(j)], M::math);
  for (const Backend backend : vector_backends()) {
    const auto c = gemm<float>(a, b, GemmOptions{.backend = backend, .math = M::math, .kernel = "hopper_units"});
    Index different = 0;
    for (Index i = 0; i < c.rows(); ++i)
      for (Index j = 0; j < c.cols(); ++j) different += same(c(i, j), expected(i, j)) ? 0 : 1;
    BOOST_TEST(different == 0, what << ", k = " << a.cols() << " on " << to_string(backend) << ": " << different
                                    << " of " << c.rows() * c.cols() << " differ");
  }
}

/// Puts a number at some places of x.
template <class T>
void sprinkle(Matrix<T>& x, float number, std::uint64_t seed, Index count) {
  for (Index e = 0; e < count; ++e) {
    const PhiloxBlock block = philox4x32(seed, static_cast<std::uint64_t>(e));
    x(static_cast<Index>(block.word[0]) % x.rows(), static_cast<Index>(block.word[1]) % x.cols()) =
        static_cast<T>(number);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(matrix_unit_kernels)

BOOST_AUTO_TEST_CASE(k_is_cut_by_k_alone) {
  struct Cut {
    Index k, segments, length;
  };
  constexpr std::array cuts{Cut{1, 1, 128},      Cut{128, 1, 128},    Cut{129, 1, 256},   Cut{2048, 1, 2048},
                            Cut{2049, 2, 1152},  Cut{6144, 2, 3072},  Cut{6145, 4, 1664}, Cut{16384, 4, 4096},
                            Cut{32768, 4, 8192}, Cut{32769, 5, 6656}, Cut{65536, 8, 8192}};
  for (const Cut& cut : cuts) {
    BOOST_TEST(matrix_unit_segments(cut.k) == cut.segments, cut.k);
    BOOST_TEST(matrix_unit_segment_length(cut.k) == cut.length, cut.k);
  }
  Index wrong = 0;
  for (Index k = 1; k < 70000; ++k) {
    const Index length = matrix_unit_segment_length(k), pieces = (k + length - 1) / length;
    wrong += length % matrix_unit_granule != 0 || pieces != matrix_unit_segments(k) ? 1 : 0;
  }
  BOOST_TEST(wrong == 0);
}

/// The reference's kernel is the loop that the contract describes, with every way to store the operands and to end.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_reference_is_the_contract, M, WholeModes) {
  using T = typename M::Element;
  constexpr Index m = 3, n = 4;
  struct Cut {
    Index k, length; // of each segment but the last one
  };
  for (const auto& [k, length] : {Cut{1, 128}, Cut{7, 128}, Cut{8, 128}, Cut{17, 128}, Cut{130, 256}, Cut{2048, 2048},
                                  Cut{2049, 1152}, Cut{4100, 2176}, Cut{6145, 1664}}) {
    const auto a = drawn<T>(m, k, 1, -5, 5), b = drawn<T>(n, k, 2, -5, 5);
    const Matrix<T> turned_a = transpose(a);
    Matrix<float> c = Matrix<float>::random(m, n, Seed{3});
    const Matrix<float> before = c;
    const GemmOptions options{.backend = Backend::Reference, .math = M::math};
    const Index step = M::math == Math::Tf32 ? 8 : 16;
    gemm(0.75f, turned_a.transposed(), b.transposed(), -1.5f, c, options);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        const std::vector<float> row = seen<M>(k, [&](Index p) { return a(i, p); });
        const std::vector<float> col = seen<M>(k, [&](Index p) { return b(j, p); });
        float sum = 0, chain = 0;
        for (Index p = 0; p < k;) {
          const Index segment_end = std::min(k, (p / length + 1) * length), end = std::min(p + step, segment_end);
          const auto from = static_cast<std::size_t>(p), count = static_cast<std::size_t>(end - p);
          chain = hopper::multiply_add(std::span(row).subspan(from, count), std::span(col).subspan(from, count), chain,
                                       hopper::format_of(M::math));
          if (end == segment_end) {
            sum = p < length ? chain : sum + chain;
            chain = 0;
          }
          p = end;
        }
        BOOST_TEST(same(c(i, j), std::fma(-1.5f, before(i, j), 0.75f * sum)), "k = " << k);
      }
    if constexpr (!std::same_as<T, float>) // a 16-bit result is rounded once
      BOOST_TEST((gemm(a, b.transposed(), options) == matrix_cast<T>(gemm<float>(a, b.transposed(), options))));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(vectors_have_the_bits_of_the_model, M, Modes) {
  using T = typename M::Element;
  constexpr Index k = M::emulated ? 300 : 100; // of emulated_strict_k() and less the emulated modes are strict
  check_rows<M>(drawn<T>(140, 40, 1, -7, 7), drawn<T>(40, 270, 2, -7, 7), "terms far apart"); // more than a block
  check_rows<M>(drawn<T>(5, 1000, 3, -1, 1), drawn<T>(1000, 33, 4, -1, 1), "a long chain");
  check_rows<M>(drawn<T>(20, k, 5, M::least, M::end), drawn<T>(k, 20, 6, M::least, M::end), "all exponents");
  check_rows<M>(drawn<T>(20, k, 7, M::least, M::least + 20), drawn<T>(k, 20, 8, M::least + 30, M::end),
                "small times large");
  check_rows<M>(drawn<T>(140, k, 9, -3, 3), drawn<T>(k, 5, 10, -3, 3), "more rows than a block has");
  Matrix<T> ones(17, k), other(k, 17);
  ones.fill(static_cast<T>(1.99f));
  other.fill(static_cast<T>(1.99f));
  check_rows<M>(ones, other, "the largest sums of a step");
}

BOOST_AUTO_TEST_CASE_TEMPLATE(segments_end_where_the_model_ends_them, M, Modes) {
  using T = typename M::Element;
  for (const Index k : {1,   15,  16,   17,   64,   65,   66,   127,  128,  129,  143,  191,  193,   255,
                        256, 257, 1023, 1024, 1025, 1153, 2047, 2048, 2049, 4097, 4100, 5249, 16384, 16385}) {
    if (has_fewer_cases() && k > 6000) continue;
    check_rows<M>(drawn<T>(3, k, 9, -4, 4), drawn<T>(k, M::emulated ? 2 : 18, 10, -4, 4), "segments");
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(numbers_that_vectors_leave_to_the_model, M, Modes) {
  using T = typename M::Element;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr Index k = M::emulated ? 150 : 70;
  const float subnormal = std::ldexp(1.0f, static_cast<int>(M::least) - 5),
              huge = std::ldexp(1.0f, static_cast<int>(M::end));
  const float rounds_to_infinity = M::math == Math::Fp16 ? 65520.0f : 0x1.ff8p127f;
  for (const float number : {infinity, -infinity, std::nanf(""), 0.0f, -0.0f, subnormal, -subnormal, huge,
                             std::nextafter(rounds_to_infinity, 0.0f), rounds_to_infinity}) {
    auto a = drawn<T>(14, k, 11, -6, 6), b = drawn<T>(k, 18, 12, -6, 6);
    sprinkle(a, number, 13, 5);
    check_rows<M>(a, b, "some of A");
    sprinkle(b, -number, 14, 5);
    sprinkle(b, 0, 15, 100);
    check_rows<M>(a, b, "some of both");
    for (Index p = 0; p < k; ++p) b(p, 7) = static_cast<T>(number); // a whole column
    check_rows<M>(a, b, "a column of B");
  }
  Matrix<T> zeros(20, k), tiny(k, 20);
  tiny.fill(std::numeric_limits<T>::denorm_min());
  check_rows<M>(zeros, tiny, "zeros");
  Matrix<T> others(20, k);
  others.fill(static_cast<T>(3));
  check_rows<M>(others, tiny, "the smallest numbers");
}

/// Epilogue, beta and 16-bit results end like the reference's kernel.
BOOST_AUTO_TEST_CASE_TEMPLATE(vectors_end_like_the_reference, M, Modes) {
  using T = typename M::Element;
  const auto a = drawn<T>(70, 300, 21, -4, 4), b = drawn<T>(90, 300, 22, -4, 4);
  const auto bias = Matrix<T>::random(1, 90, Seed{23}), residual = Matrix<T>::random(70, 90, Seed{24});
  const auto product = [&](Backend backend) {
    auto c = Matrix<T>::random(70, 90, Seed{25});
    gemm(0.75f, a, b.transposed(), 0.5f, c,
         MatrixEpilogue<T>{.bias = bias.view(), .activation = Activation::Gelu, .residual = residual.view()},
         {.backend = backend, .math = M::math, .kernel = "hopper_units"});
    return c;
  };
  for (const Backend backend : vector_backends())
    BOOST_TEST((product(backend) == product(Backend::Reference)), to_string(backend));
}

/// Where a ladder keeps the contract of a mode, kernels in another order run by their names alone.
BOOST_AUTO_TEST_CASE(other_kernels_of_the_mode_run_by_name) {
  const auto entry = [](const char* name, Math math, Summation summation) {
    return GemmKernel{.name = name, .math = math, .summation = summation};
  };
  std::vector<GemmKernel> ladder{entry("vendor", Math::Tf32, Summation::Other),
                                 entry("own", Math::Tf32, Summation::HopperUnits),
                                 entry("fast", Math::Bf16, Summation::Other)};
  Capabilities hopper, older, host;
  hopper.host_memory = older.host_memory = false;
  hopper.compute_major = 9;
  older.compute_major = 8;
  for (const Capabilities& machine : {hopper, host}) {
    BOOST_TEST(!keeps_contract(ladder[0], ladder, machine));
    BOOST_TEST(keeps_contract(ladder[1], ladder, machine));
    BOOST_TEST(keeps_contract(ladder[2], ladder, machine)); // no kernel of its mode has a contract
    BOOST_TEST(promises_bits(ladder, machine, DType::F32, Math::Tf32));
    BOOST_TEST(!promises_bits(ladder, machine, DType::F32, Math::Bf16));
    BOOST_TEST(!promises_bits(ladder, machine, DType::F32, Math::Fp16));
  }
  BOOST_TEST(keeps_contract(ladder[0], ladder, older)); // its matrix units have other bits
  BOOST_TEST(!promises_bits(ladder, older, DType::F32, Math::Tf32));
  ladder[1].yardstick = true;
  BOOST_TEST(keeps_contract(ladder[0], ladder, host));
}

BOOST_AUTO_TEST_SUITE_END()
