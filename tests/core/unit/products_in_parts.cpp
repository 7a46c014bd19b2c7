/// Tests int8_units in parts, as products have them whose packed operands would be large: all parts have the
/// reference's bits.

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm.hpp>

#include "cpu/gemm/int8_units/product.hpp"

using namespace tessera;

namespace {

/// The caller's thread alone.
class SerialTeam final : public cpu::Team {
 public:
  SerialTeam() : Team(1) {}

 private:
  int limit_here(int) const override { return 1; }
  void fork(int, cpu::SlotBody work) override { work(0); }
  void loop(Index, int, cpu::TaskBody, cpu::Schedule) override {}
  int missing_for(int) const override { return 0; }
  void can_have(int) override {}
};

/// Operands of which some lines become whole numbers, some are uncertain beside each other, and some do not fit.
struct MixedLines {
  Index m = 75, n = 100, k = 1100;
  std::vector<double> a, b, c;

  explicit MixedLines(unsigned seed)
      : a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)), c(static_cast<std::size_t>(m * n)) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> element(-1, 1);
    for (auto* x : {&a, &b, &c})
      for (double& value : *x) value = element(random);
    for (Index p = 0; p < k; ++p) { // rows 50 and later meet columns 60 and later where these are small
      for (Index i = 50; i < m; ++i) a[static_cast<std::size_t>(i * k + p)] *= p % 2 == 0 ? 1 : 0x1p-40;
      for (Index j = 60; j < n; ++j) b[static_cast<std::size_t>(p * n + j)] *= p % 2 == 1 ? 1 : 0x1p-40;
    }
    a[static_cast<std::size_t>(20 * k)] = std::numeric_limits<double>::infinity();
  }
  GemmCall call() {
    return {{.type = DType::F64,
             .math = Math::Int8Units,
             .m = m,
             .n = n,
             .k = k,
             .alpha = -0.5,
             .a = a.data(),
             .lda = k,
             .b = b.data(),
             .ldb = n,
             .beta = 2,
             .c = c.data(),
             .ldc = n}};
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(products_in_parts)

BOOST_AUTO_TEST_CASE(parts_have_the_bits_of_the_whole) {
  MixedLines whole(1);
  const GemmCall expected = whole.call();
  Executor& reference = executor(Backend::Reference);
  throw_if_failed(reference.gemm(reference.default_queue(), expected));
  cpu::CpuExecutor cpu(Backend::OpenMP, cpu::detect_isa(), 1, std::make_unique<SerialTeam>());
  for (const Index rows : {32, 75})
    for (const Index cols : {48, 100}) {
      MixedLines parts(1);
      const GemmCall call = parts.call();
      throw_if_failed(cpu::int8_units::multiply_in_parts(cpu, cpu.default_queue(), call, rows, cols));
      Index wrong = 0;
      for (std::size_t i = 0; i < parts.c.size(); ++i)
        wrong += std::bit_cast<std::uint64_t>(parts.c[i]) == std::bit_cast<std::uint64_t>(whole.c[i]) ? 0 : 1;
      BOOST_TEST(wrong == 0, wrong << " elements of parts of " << rows << "×" << cols << " differ");
    }
}

BOOST_AUTO_TEST_SUITE_END()
