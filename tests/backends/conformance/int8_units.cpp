/// The contract of Math::Int8Units, on kernels of any backend: the bits of the reference's kernel, for operands that
/// become whole numbers easily and for ones that do not.

#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include "shapes.hpp"

namespace tessera::conformance {
namespace {

using Random = std::mt19937_64;

struct Hardness {
  std::string_view name;
  double (*draw)(Random& random);
};

double uniform_element(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; }
int whole_number(Random& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
}

constexpr std::array kinds{
    Hardness{"uniform", uniform_element},
    Hardness{"small whole numbers", [](Random& random) { return static_cast<double>(whole_number(random, -3, 3)); }},
    Hardness{"exponents a little apart",
             [](Random& random) { return std::ldexp(uniform_element(random), whole_number(random, -8, 8)); }},
    Hardness{"exponents far apart",
             [](Random& random) { return std::ldexp(uniform_element(random), whole_number(random, -60, 60)); }},
    Hardness{"mostly zeros",
             [](Random& random) { return whole_number(random, 0, 9) == 0 ? uniform_element(random) : 0.0; }},
    Hardness{"near the largest number",
             [](Random& random) { return std::ldexp(uniform_element(random), whole_number(random, 480, 520)); }},
    Hardness{"results that are subnormal",
             [](Random& random) { return std::ldexp(uniform_element(random), -540 + whole_number(random, 0, 3)); }},
    Hardness{"subnormal", [](Random& random) { return std::ldexp(uniform_element(random), -1040); }},
    Hardness{"some that are not finite",
             [](Random& random) {
               if (whole_number(random, 0, 5000) > 0) return uniform_element(random);
               return whole_number(random, 0, 1) == 0 ? std::numeric_limits<double>::infinity()
                                                      : std::numeric_limits<double>::quiet_NaN();
             }},
};

struct Sizes {
  Index m, n, k;
};

/// Sizes around tiles, and around the k up to which the mode is the strict product.
Sizes draw_shape(Random& random, bool long_k) {
  const auto side = [&] {
    return Index{whole_number(random, 0, 3) == 0 ? whole_number(random, 1, 4) : whole_number(random, 5, 70)};
  };
  if (long_k) { // sums of 32 bits are full after 131,071 k, on some machines after 32,768
    const bool longest = whole_number(random, 0, 1) == 1;
    return {whole_number(random, 1, 5), whole_number(random, 1, 5),
            longest ? whole_number(random, 131'060, 140'000) : whole_number(random, 32'700, 70'000)};
  }
  return {side(), side(),
          whole_number(random, 0, 5) == 0 ? whole_number(random, 1020, 1030) : whole_number(random, 1025, 2300)};
}

/// Computes one product by the kernel and by the reference.
void check_product(const GemmKernel& kernel, const Hardness& kind, Random& random, bool long_k) {
  const auto [m, n, k] = draw_shape(random, long_k);
  const bool turned_a = whole_number(random, 0, 1) == 1, turned_b = whole_number(random, 0, 1) == 1;
  const auto place = [&] { return Placement{whole_number(random, 0, 5), 64, whole_number(random, 0, 1) == 1}; };
  Guarded<double> a(subject(), turned_a ? k : m, turned_a ? m : k, place());
  Guarded<double> b(subject(), turned_b ? n : k, turned_b ? k : n, place());
  Guarded<double> c(subject(), m, n, place());
  for (Guarded<double>* x : {&a, &b}) fill(*x, [&](std::uint64_t) { return kind.draw(random); });
  fill(c, [&](std::uint64_t) { return uniform_element(random); });
  std::vector<double> expected;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) expected.push_back(c.at(i, j));
  for (Guarded<double>* x : {&a, &b, &c}) x->upload();
  GemmCall call{{.type = DType::F64,
                 .math = Math::Int8Units,
                 .op_a = turned_a ? Op::Transpose : Op::None,
                 .op_b = turned_b ? Op::Transpose : Op::None,
                 .m = m,
                 .n = n,
                 .k = k,
                 .alpha = whole_number(random, 0, 1) == 0 ? 1 : -0.75,
                 .a = a.data(),
                 .lda = a.ld(),
                 .b = b.data(),
                 .ldb = b.ld(),
                 .beta = whole_number(random, 0, 2) == 0 ? 1.5 : 0,
                 .c = c.data(),
                 .ldc = c.ld(),
                 .threads = whole_number(random, 0, 3)}};
  const Status status = subject().gemm(subject().default_queue(), call, kernel.name);
  if (status.code == StatusCode::Rejected) {
    std::cout << "int8_units rejected k = " << k << ": " << status.why << '\n';
    BOOST_TEST(!status.why.empty());
    return;
  }
  throw_if_failed(status);
  throw_if_failed(subject().default_queue().synchronize());
  c.download();
  call.a = a.host();
  call.b = b.host();
  call.c = expected.data();
  call.ldc = n;
  throw_if_failed(reference().gemm(reference().default_queue(), call, "int8_units"));
  std::size_t wrong = 0;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) wrong += same(c.at(i, j), expected[static_cast<std::size_t>(i * n + j)]) ? 0 : 1;
  BOOST_TEST(wrong == 0u, kind.name << ", m = " << m << ", n = " << n << ", k = " << k << ", A " << to_string(call.op_a)
                                    << ", B " << to_string(call.op_b) << ", alpha = " << call.alpha
                                    << ", beta = " << call.beta << ": " << wrong << " elements differ");
  BOOST_TEST(c.surroundings_intact());
}

} // namespace

BOOST_AUTO_TEST_SUITE(int8_units)

BOOST_AUTO_TEST_CASE(bits_are_the_contracts) {
  if (options().backend == Backend::Reference) return; // the contract itself
  Random random(20251);
  for (const GemmKernel& kernel : subject().gemm_kernels()) {
    if (kernel.summation != Summation::WholeNumbers) continue;
    for (const Hardness& kind : kinds) {
      for (int product = options().quick ? 1 : 4; product > 0; --product) check_product(kernel, kind, random, false);
      if (!options().quick) check_product(kernel, kind, random, true);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
