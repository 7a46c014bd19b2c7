/// Measures what a certificate costs beside the product that it is about: for people to run.
///
///     tessera_certificate_cost --sizes 1024,2048,4096,8192 --repeat 7
///
/// Product and check take turns. The table has the medians, and the median, least and largest of their quotients.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/check.hpp>
#include <tessera/gemm.hpp>

namespace {

using namespace tessera;

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

template <class T>
void measure(Index n, int repeat, const GemmOptions& options, int threads) {
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{1}), b = Matrix<T>::random(n, n, Seed{2});
  Matrix<T> c(n, n);
  std::vector<double> products, checks, quotients;
  Certificate answer;
  for (int run = 0; run <= repeat; ++run) { // the first one warms up
    const double product = seconds([&] { gemm(T{1}, a, b, T{0}, c, options); });
    const double its_check = seconds([&] { answer = check(a, b, c, {.threads = threads}); });
    if (run == 0) continue;
    products.push_back(product);
    checks.push_back(its_check);
    quotients.push_back(its_check / product);
  }
  const auto [least, most] = std::minmax_element(quotients.begin(), quotients.end());
  fmt::print("{:5} {} {:9.4f} {:9.4f} {:7.2f} % {:7.2f} % … {:.2f} %  {} rows, {} vectors, {}\n", n,
             to_string(dtype_of<T>), median(products), median(checks), 100 * median(quotients), 100 * *least,
             100 * *most, answer.rows_compared, answer.vectors, to_string(answer.verdict));
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
  fmt::print("    n      product, s  check, s   check ÷ product: median, least … largest\n");
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
