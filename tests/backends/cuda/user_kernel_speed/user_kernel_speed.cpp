/// Races loops of functors on a device beside hand-written CUDA and CUB, and the sum on a processor beside a plain
/// OpenMP loop: tessera_cuda_user_kernel_speed [--rounds N] [--log2-elements N] [--json FILE]. It prints the tables of
/// docs/lab/user_kernels.md in Markdown. It ends with 1 where a result is wrong, 2 where something is missing or fails.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/tessera.hpp>

#include "device_vectors.hpp"
#include "functors.hpp"
#include "handwritten_stream.hpp"
#include "hook_cost.hpp"
#include "plain_openmp.hpp"
#include "race.hpp"

using namespace tessera;
using namespace speed;
using handwritten::Loop;

namespace {

constexpr double scalar = 0.4;
constexpr int runs_per_sample = 8;    ///< loops between two events, which cost some 2 µs
constexpr Index small = 1024;         ///< elements where the launch is all that takes time
constexpr int launches_at_once = 500; ///< a device holds 1024 launches before the host waits

struct WrongResult : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Device {
  Executor& executor;
  Queue& queue;
  cudaStream_t stream;

  explicit Device(Executor& cuda)
      : executor(cuda), queue(cuda.default_queue()), stream(static_cast<cudaStream_t>(queue.native())) {}
};

double expected_element(Loop loop, double a, double b) {
  switch (loop) {
    case Loop::Copy:
      return a;
    case Loop::Mul:
      return scalar * a;
    case Loop::Add:
      return a + b;
    case Loop::Triad:
      return a + scalar * b;
  }
  return 0;
}

void check_elements(Loop loop, const std::string& who, const DeviceVectors& at) {
  const std::vector<double> found = at.c.fetch();
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double expected = expected_element(loop, at.host_a[i], at.host_b[i]);
    if (std::memcmp(&found[i], &expected, sizeof expected) != 0)
      throw WrongResult(who + ": element " + std::to_string(i) + " is " + std::to_string(found[i]) + ", expected " +
                        std::to_string(expected));
  }
}

/// Runs one of the library's loops.
void run_ours(const Device& device, Loop loop, const DeviceVectors& at, Index n) {
  Executor& e = device.executor;
  const auto in = [&](const DeviceVector& x) { return read<double>(x.data(), 1, n, n, e); };
  const Out<double> c = write<double>(at.c.data(), 1, n, n, e);
  switch (loop) {
    case Loop::Copy:
      return for_each(e, n, stream::Copy<double>{in(at.a), c});
    case Loop::Mul:
      return for_each(e, n, stream::Mul<double>{in(at.a), c, scalar});
    case Loop::Add:
      return for_each(e, n, stream::Add<double>{in(at.a), in(at.b), c});
    case Loop::Triad:
      return for_each(e, n, stream::Triad<double>{in(at.a), in(at.b), c, scalar});
  }
}

/// Races a loop by the device's events. The queue is kept busy by a fill while the loops are enqueued.
std::vector<Timing> race_loop(const Device& device, Loop loop, const char* name, int vectors, DeviceVectors& at,
                              Index n, int rounds) {
  const auto contestant = [&, loop](const std::string& who, bool ours, auto run) {
    const auto time = [&, run] {
      measure::Stopwatch watch(device.executor);
      const auto prepare = [&] {
        at.c.fill_with_nan();
        return Status{};
      };
      throw_if_failed(watch.time_after(prepare, [&] {
        for (int i = 0; i < runs_per_sample; ++i) run();
      }));
      return watch.seconds() / runs_per_sample;
    };
    return Contestant{who, ours, time, [&at, loop, who] { check_elements(loop, who, at); }};
  };
  const handwritten::Vectors vectors_of_peers{at.a.data(), at.b.data(), at.c.data(), scalar, n};
  std::vector<Contestant> contestants{contestant("Tessera", true, [&, loop, n] { run_ours(device, loop, at, n); })};
  for (const handwritten::Variant& variant : handwritten::variants())
    contestants.push_back(contestant(variant.name, false, [&device, vectors_of_peers, loop, run = variant.run] {
      run(loop, vectors_of_peers, device.stream);
    }));
  return race(name, static_cast<double>(n) * 8 * vectors, rounds, contestants);
}

/// A reduction that is timed by the host's clock, from the call to the result on the host.
Contestant reduction(const std::string& who, bool ours, std::function<double()> run, double expected, double bound) {
  const auto result = std::make_shared<double>(std::numeric_limits<double>::quiet_NaN());
  return {who, ours, [result, run] { return measure::host_seconds([&] { *result = run(); }); },
          [=] {
            if (!(std::abs(*result - expected) <= bound))
              throw WrongResult(who + ": the result is " + std::to_string(*result) + ", expected " +
                                std::to_string(expected) + " ± " + std::to_string(bound));
          }};
}

/// The most that two orders of summation differ by: 2·n·u·Σ|x|.
double sum_bound(const std::vector<double>& x) {
  double magnitude = 0;
  for (const double element : x) magnitude += std::abs(element);
  return static_cast<double>(x.size()) * std::numeric_limits<double>::epsilon() * magnitude;
}

/// Races dot and sum. The library's result must have the bits that the reference has.
std::vector<Timing> race_reductions(const Device& device, const DeviceVectors& at, Index n, int rounds) {
  Executor& e = device.executor;
  Executor& host = executor(Backend::Reference);
  const auto view = [n](const double* x, Executor& on) { return read<double>(x, 1, n, n, on); };
  std::vector<double> products(at.host_a.size());
  for (std::size_t i = 0; i < products.size(); ++i) products[i] = at.host_a[i] * at.host_b[i];
  const stream::Dot<double> dot{view(at.a.data(), e), view(at.b.data(), e)};
  const double expected_dot =
      sum(host, n, stream::Dot<double>{view(at.host_a.data(), host), view(at.host_b.data(), host)});
  std::vector<Contestant> dots{reduction(
      "Tessera", true, [&e, n, dot] { return sum(e, n, dot); }, expected_dot, 0)};
  const double bound = sum_bound(products);
  for (const bool wide : {false, true}) {
    const std::shared_ptr<handwritten::Reducer> peer = handwritten::make_dot(n, wide);
    dots.push_back(reduction(
        wide ? "CUDA, 16 bytes" : "CUDA, 8 bytes", false,
        [&at, peer, s = device.stream] { return peer->run(at.a.data(), at.b.data(), s); }, expected_dot, bound));
  }
  const Element element{view(at.a.data(), e)};
  const double expected_sum = sum(host, n, Element{view(at.host_a.data(), host)});
  const std::shared_ptr<handwritten::Reducer> cub = handwritten::make_cub_sum(n);
  const std::string size = n == small ? " of 1024" : "";
  std::vector<Timing> timings = race("dot" + size, static_cast<double>(n) * 16, rounds, dots);
  const std::vector<Timing> sums =
      race("sum" + size, static_cast<double>(n) * 8, rounds,
           {reduction(
                "Tessera", true, [&e, n, element] { return sum(e, n, element); }, expected_sum, 0),
            reduction(
                "CUB", false, [&at, cub, s = device.stream] { return cub->run(at.a.data(), nullptr, s); }, expected_sum,
                sum_bound(at.host_a))});
  timings.insert(timings.end(), sums.begin(), sums.end());
  return timings;
}

/// Races the sum on the processor.
std::vector<Timing> race_processor(const std::vector<double>& x, int rounds) {
  Executor& host = executor(Backend::OpenMP);
  const auto n = static_cast<Index>(x.size());
  const int threads = host.capabilities().threads;
  const Element element{read<double>(x.data(), 1, n, n, host)};
  const double expected = sum(executor(Backend::Reference), n, element);
  return race("sum, processor", static_cast<double>(n) * 8, rounds,
              {reduction(
                   "Tessera", true, [&host, n, element] { return sum(host, n, element); }, expected, 0),
               reduction(
                   "OpenMP loop", false, [&x, n, threads] { return handwritten::openmp_sum(x.data(), n, threads); },
                   expected, sum_bound(x))});
}

/// Races the host's time of a launch: many are enqueued at once, and the host does not wait for the device.
std::vector<Timing> race_launches(const Device& device, DeviceVectors& at, int rounds) {
  const auto contestant = [&](const std::string& who, bool ours, auto run) {
    const auto time = [&, run] {
      at.c.fill_with_nan();
      throw_if_failed(device.queue.synchronize());
      const double seconds = measure::host_seconds([&] {
        for (int i = 0; i < launches_at_once; ++i) run();
      });
      throw_if_failed(device.queue.synchronize());
      return seconds / launches_at_once;
    };
    return Contestant{who, ours, time, [&at, who] { check_elements(Loop::Copy, who, at); }};
  };
  const handwritten::Vectors vectors{at.a.data(), at.b.data(), at.c.data(), scalar, small};
  const stream::Copy<double> copy{read<double>(at.a.data(), 1, small, small, device.executor),
                                  write<double>(at.c.data(), 1, small, small, device.executor)};
  return race(
      "launch", 0, rounds,
      {contestant("Tessera", true, [&device, copy] { for_each(device.executor, small, copy); }),
       contestant("CUDA, <<<>>>", false, [vectors, s = device.stream] { handwritten::launch_copy(vectors, s); })});
}

void print(const std::vector<Timing>& timings, double ceiling) {
  for (const Timing& t : timings) {
    std::printf("| %s | %s | %.4f | %.4f |", t.what.c_str(), t.name.c_str(), t.median * 1e6, t.fastest * 1e6);
    const bool moves = t.bytes > 0 && t.what.find("processor") == std::string::npos;
    if (t.bytes > 0)
      std::printf(" %.1f |", t.bytes / t.median * 1e-9);
    else
      std::printf(" |");
    if (moves && ceiling > 0)
      std::printf(" %.3f |", t.bytes / t.median / ceiling);
    else
      std::printf(" |");
    if (t.ours)
      std::printf(" %.3f |\n", t.ratio);
    else
      std::printf(" |\n");
  }
  std::fflush(stdout);
}

nlohmann::json as_json(const std::vector<Timing>& timings) {
  nlohmann::json results = nlohmann::json::array();
  for (const Timing& t : timings)
    results.push_back({{"loop", t.what},
                       {"contestant", t.name},
                       {"tessera", t.ours},
                       {"seconds", {{"median", t.median}, {"min", t.fastest}}},
                       {"bytes", t.bytes},
                       {"ratio_to_best_peer", t.ours ? nlohmann::json(t.ratio) : nlohmann::json()}});
  return results;
}

void measure_all(Index n, int rounds, const std::string& json_file) {
  const Device device(executor(Backend::Cuda));
  const Capabilities& machine = device.executor.capabilities();
  Ceilings ceilings;
  throw_if_failed(device.executor.measure_ceilings(DType::F64, Math::Strict, 0, ceilings));
  std::printf("%s, %s; copies of its memory: %.1f GB/s; %lld doubles, %d rounds\n\n", machine.device.c_str(),
              machine.driver.c_str(), ceilings.bytes_per_second * 1e-9, static_cast<long long>(n), rounds);
  std::printf(
      "| loop | contestant | median µs | fastest µs | GB/s | share of copies | time over best peer's |\n"
      "|---|---|---|---|---|---|---|\n");
  std::vector<Timing> all;
  const auto add = [&](const std::vector<Timing>& timings) {
    print(timings, ceilings.bytes_per_second);
    all.insert(all.end(), timings.begin(), timings.end());
  };
  {
    DeviceVectors at(device.executor, n);
    add(race_loop(device, Loop::Copy, "copy", 2, at, n, rounds));
    add(race_loop(device, Loop::Mul, "mul", 2, at, n, rounds));
    add(race_loop(device, Loop::Add, "add", 3, at, n, rounds));
    add(race_loop(device, Loop::Triad, "triad", 3, at, n, rounds));
    add(race_reductions(device, at, n, rounds));
    try {
      add(race_processor(at.host_a, rounds));
    } catch (const BackendUnavailable& absent) {
      std::printf("\n%s\n\n", absent.what());
    }
  }
  DeviceVectors at(device.executor, small);
  add(race_reductions(device, at, small, std::max(rounds, 101)));
  const std::vector<Timing> launches = race_launches(device, at, rounds);
  const std::vector<Timing> hook = race("tools' check", 0, rounds, hook_contestants());
  add(launches);
  add(hook);
  std::printf(
      "\na launch costs the host %.0f ns more than a bare one; the tools' check costs %.2f ns, with the "
      "entry that has it %.2f ns\n",
      (launches[0].median - launches[1].median) * 1e9, (hook[0].median - hook[1].median) * 1e9,
      (hook[0].median - hook[2].median) * 1e9);
  if (json_file.empty()) return;
  std::ofstream file(json_file);
  file << nlohmann::json{{"schema", "tessera.user_kernel_speed/1"},
                         {"device", machine.device},
                         {"driver", machine.driver},
                         {"multiprocessors", machine.multiprocessors},
                         {"elements", n},
                         {"rounds", rounds},
                         {"copy_bytes_per_second", ceilings.bytes_per_second},
                         {"results", as_json(all)}}
              .dump(1)
       << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + json_file);
}

} // namespace

int main(int argc, char** argv) try {
  CLI::App app("Races loops of functors beside hand-written CUDA, CUB and OpenMP");
  int rounds = 21, exponent = 25;
  std::string json_file;
  app.add_option("--rounds", rounds, "timed rounds of each race")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--log2-elements", exponent, "binary logarithm of the vectors' length")
      ->check(CLI::Range(10, 29))
      ->capture_default_str();
  app.add_option("--json", json_file, "file for the results");
  CLI11_PARSE(app, argc, argv);
  measure_all(Index{1} << exponent, rounds, json_file);
  return 0;
} catch (const WrongResult& wrong) {
  std::fprintf(stderr, "wrong result: %s\n", wrong.what());
  return 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
