#include "probe.hpp"

#include <cmath>
#include <latch>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tessera/detail/stopwatch.hpp>

#include "cpu/device/isa.hpp"
#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::bench {
namespace {

template <class T>
double flops(int threads) {
  constexpr double seconds_each = 2e-3;
  const cpu::MicroKernel<T>& kernel = cpu::micro_kernel<T>(cpu::detect_isa());
  const double step_operations = 2.0 * kernel.tile_m * kernel.tile_n;
  constexpr Index steps = 2000;
  std::vector<double> rates(static_cast<std::size_t>(threads));
  std::latch ready(threads);
  bool all_started = true;
  const auto work = [&](int thread) {
    ready.arrive_and_wait();
    if (!all_started) return;
    const measure::HostStopwatch watch;
    double seconds = 0;
    double operations = 0;
    bool finite = true;
    while (seconds < seconds_each) {
      finite &= std::isfinite(static_cast<double>(kernel.multiply_registers(steps)));
      operations += step_operations * static_cast<double>(steps);
      seconds = watch.seconds();
    }
    rates[static_cast<std::size_t>(thread)] = finite ? operations / seconds : 0.0;
  };
  {
    std::vector<std::jthread> others;
    try {
      for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread);
    } catch (const std::system_error&) { // the others wait for the threads that are missing
      all_started = false;
      ready.count_down(threads - 1 - static_cast<std::ptrdiff_t>(others.size()));
    }
    work(0);
  }
  if (!all_started)
    throw std::runtime_error("the probe needs " + std::to_string(threads) +
                             " threads and the system refuses some of them; raise the limit (ulimit -u), or ask for "
                             "fewer with --threads");
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

} // namespace

double probe_flops(DType type, int threads) {
  return visit_scalar(type, [threads]<class T>(std::type_identity<T>) { return flops<T>(threads); });
}

} // namespace tessera::bench
