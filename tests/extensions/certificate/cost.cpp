/// Measures what a certificate costs beside the product that it is about: for people to run.
///
///     tessera_certificate_cost --sizes 1024,2048,4096,8192 --repeat 7
///
/// Product and check take turns. The table has the medians, and the median, least and largest of their quotients. The
/// last quotient is of processor time of all threads, which other programs of a busy machine change less; set
/// OMP_WAIT_POLICY=passive for it, so that threads do not wait for one another in loops.

#include <algorithm>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/checking/check.hpp>
#include <tessera/gemm.hpp>

#include "support/cost.hpp"

namespace {

using namespace tessera;
using namespace tessera::test;

template <class T>
void measure(Index n, int repeat, const GemmOptions& options, int threads) {
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{1}), b = Matrix<T>::random(n, n, Seed{2});
  Matrix<T> c(n, n);
  std::vector<double> products, checks, quotients, of_processor;
  Certificate answer;
  for (int run = 0; run <= repeat; ++run) { // the first one warms up
    const Seconds product = seconds([&] { gemm(T{1}, a, b, T{0}, c, options); });
    const Seconds its_check = seconds([&] { answer = check(a, b, c, {.threads = threads}); });
    if (run == 0) continue;
    products.push_back(product.passed);
    checks.push_back(its_check.passed);
    quotients.push_back(its_check.passed / product.passed);
    of_processor.push_back(its_check.processor / product.processor);
  }
  const auto [least, most] = std::minmax_element(quotients.begin(), quotients.end());
  fmt::print("{:5} {} {:9.4f} {:9.4f} {:7.2f} % {:7.2f} % … {:.2f} %  {:6.2f} %  {} rows, {} vectors, {}\n", n,
             to_string(dtype_of<T>), median(products), median(checks), 100 * median(quotients), 100 * *least,
             100 * *most, 100 * median(of_processor), answer.rows_compared, answer.vectors, to_string(answer.verdict));
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) try {
  CLI::App app("Times checks beside products", "tessera_certificate_cost");
  std::vector<Index> sizes{1024, 2048, 4096, 8192};
  int repeat = 7, threads = 0;
  std::string backend = "openmp";
  app.add_option("--sizes", sizes, "Sizes of square products")->delimiter(',');
  app.add_option("--repeat", repeat, "Timed runs")->check(CLI::PositiveNumber);
  app.add_option("--threads", threads, "Threads of both; 0: the default");
  app.add_option("--backend", backend, "What multiplies");
  CLI11_PARSE(app, argc, argv);
  fmt::print("    n      product, s  check, s   check ÷ product: median, least … largest; processor time\n");
  for (const Index n : sizes) {
    const GemmOptions options{.backend = parse_backend(backend), .threads = threads};
    measure<float>(n, repeat, options, threads);
    measure<double>(n, repeat, options, threads);
  }
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_certificate_cost: {}\n", error.what());
  return 2;
}
