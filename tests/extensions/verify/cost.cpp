/// Measures what a product that verifies itself costs beside one that does not: for people to run.
///
///     tessera_verify_cost --sizes 1024,2048,4096 --repeat 15
///
/// The two take turns. The table has the medians, and the median, least and largest of the quotients of neighbours. The
/// last quotient is of processor time of all threads, which other programs of a busy machine change less; set
/// OMP_WAIT_POLICY=passive for it.

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/gemm.hpp>

#include "support/cost.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

template <class T>
void measure(Index n, int repeat, GemmOptions options, T beta, bool transposed) {
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{1}), b = Matrix<T>::random(n, n, Seed{2});
  Matrix<T> c(n, n);
  const auto multiply = [&](Verify verify) {
    options.verify = verify;
    if (transposed)
      gemm(T{1}, a.transposed(), b.transposed(), beta, c, options);
    else
      gemm(T{1}, a, b, beta, c, options);
  };
  std::vector<double> plain, verified, quotients, of_processor;
  for (int run = 0; run <= repeat; ++run) { // the first one warms up
    const Seconds without = seconds([&] { multiply(Verify::None); });
    const Seconds with = seconds([&] { multiply(Verify::Detect); });
    if (run == 0) continue;
    plain.push_back(without.passed);
    verified.push_back(with.passed);
    quotients.push_back(with.passed / without.passed - 1);
    of_processor.push_back(with.processor / without.processor - 1);
  }
  const auto [least, most] = std::minmax_element(quotients.begin(), quotients.end());
  fmt::print("{:5} {} {}beta = {} {:9.5f} {:9.5f} {:7.2f} % {:7.2f} % … {:.2f} %  {:7.2f} %\n", n,
             to_string(dtype_of<T>), transposed ? "transposed " : "", beta, median(plain), median(verified),
             100 * median(quotients), 100 * *least, 100 * *most, 100 * median(of_processor));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
  CLI::App app("Times products that verify themselves beside products that do not", "tessera_verify_cost");
  std::vector<Index> sizes{1024, 2048, 4096};
  int repeat = 15, threads = 0;
  std::string backend = "openmp";
  bool all = false;
  app.add_option("--sizes", sizes, "Sizes of square products")->delimiter(',');
  app.add_option("--repeat", repeat, "Timed runs")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads, "Threads; 0: the default");
  app.add_option("--backend", backend, "What multiplies");
  app.add_flag("--all", all, "Also transposed operands, and beta = 1");
  CLI11_PARSE(app, argc, argv);
  fmt::print("    n       product, s  verified, s   verified ÷ product − 1: median, least … largest; processor time\n");
  for (const Index n : sizes) {
    const GemmOptions options{.backend = parse_backend(backend), .threads = threads};
    measure<float>(n, repeat, options, 0, false);
    measure<double>(n, repeat, options, 0, false);
    if (!all) continue;
    measure<float>(n, repeat, options, 1, false);
    measure<double>(n, repeat, options, 1, false);
    measure<float>(n, repeat, options, 0, true);
    measure<double>(n, repeat, options, 0, true);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_verify_cost: {}\n", error.what());
  return 2;
}
