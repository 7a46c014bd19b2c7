/// BabelStream on every backend: babelstream [SIZE] [BACKEND]..., GB/s of the fastest of twenty rounds.

#include "babelstream.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include <tessera/detail/stopwatch.hpp>

#include "backends.hpp"

using namespace tessera;

namespace {

constexpr double start_a = 0.1, start_b = 0.2, start_c = 0.0, scalar = 0.4;
constexpr int rounds = 20;

class Stream {
 public:
  Stream(Executor& executor, Index n)
      : executor_(executor), n_(n), a_(1, n, start_a), b_(1, n, start_b), c_(1, n, start_c) {}

  void copy() { for_each(executor_, n_, stream::Copy<double>{read(a_, executor_), write(c_, executor_)}); }
  void mul() { for_each(executor_, n_, stream::Mul<double>{read(c_, executor_), write(b_, executor_), scalar}); }
  void add() {
    for_each(executor_, n_, stream::Add<double>{read(a_, executor_), read(b_, executor_), write(c_, executor_)});
  }
  void triad() {
    for_each(executor_, n_,
             stream::Triad<double>{read(b_, executor_), read(c_, executor_), write(a_, executor_), scalar});
  }
  double dot() { return sum(executor_, n_, stream::Dot<double>{read(a_, executor_), read(b_, executor_)}); }

 private:
  Executor& executor_;
  Index n_;
  Matrix<double> a_, b_, c_;
};

double run(Executor& executor, Index n) {
  Stream vectors(executor, n);
  double product = 0;
  const std::array<void (*)(Stream&, double&), 5> loops{
      [](Stream& s, double&) { s.copy(); }, [](Stream& s, double&) { s.mul(); }, [](Stream& s, double&) { s.add(); },
      [](Stream& s, double&) { s.triad(); }, [](Stream& s, double& dot) { dot = s.dot(); }};
  std::array<double, 5> best;
  best.fill(std::numeric_limits<double>::infinity());
  measure::Stopwatch watch(executor);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t loop = 0; loop < loops.size(); ++loop) {
      throw_if_failed(watch.time([&] { loops[loop](vectors, product); }));
      if (round > 0) best[loop] = std::min(best[loop], watch.seconds()); // the first round moves the vectors
    }
  constexpr std::array<const char*, 5> names{"copy", "mul", "add", "triad", "dot"};
  constexpr std::array<int, 5> moved{2, 2, 3, 3, 2}; // vectors read and written
  for (std::size_t loop = 0; loop < loops.size(); ++loop)
    std::printf("%-10s %-6s %8.1f GB/s\n", to_string(executor.capabilities().backend).data(), names[loop],
                static_cast<double>(moved[loop] * n * 8) / best[loop] * 1e-9);
  std::fflush(stdout);
  return product;
}

} // namespace

int main(int argc, char** argv) try {
  const examples::Arguments arguments = examples::parse(argc, argv, Index{1} << 25);
  return examples::run_on_each(arguments, [&](Executor& executor) { return run(executor, arguments.size); });
} catch (const Error& error) {
  std::cerr << "babelstream: " << error.what() << '\n';
  return 2;
}
