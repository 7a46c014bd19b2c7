#include "race.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include <tessera/checking/compare.hpp>
#include <tessera/random.hpp>

#include "common/terminal.hpp"
#include "core/measure/repeat.hpp"
#include "core/measure/time_summary.hpp"
#include "gemm_bench/device/memory.hpp"
#include "gemm_bench/time_json.hpp"

namespace tessera::bench {
namespace {

template <class T>
std::vector<T> random_elements(Index count, std::uint64_t seed) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t e = 0; e < all.size(); ++e) all[e] = random_element<T>(Distribution::Uniform, seed, e, T{-1}, T{1});
  return all;
}

/// Pointers to parts of one array, `stride` elements apart, on the host and on the device.
template <class T>
class Pointers {
 public:
  Pointers(Executor& where, T* first, Index stride, Index count)
      : device_(where, static_cast<std::size_t>(count) * sizeof(void*)) {
    host_.reserve(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) host_.push_back(first + i * stride);
    device_.write(host_.data());
  }
  void* const* host() const { return host_.data(); }
  void* device() const { return device_.as<void>(); }

 private:
  std::vector<void*> host_;
  DeviceMemory device_;
};

template <class T>
class Course {
 public:
  Course(const BatchRace& race, Executor& where)
      : race_(race),
        size_a_(race.shape.m * race.shape.k),
        size_b_(race.shape.k * race.shape.n),
        size_c_(race.shape.m * race.shape.n),
        host_a_(random_elements<T>(size_a_ * race.count, 1)),
        host_b_(random_elements<T>(size_b_ * race.count, 2)),
        host_c_(static_cast<std::size_t>(size_c_ * race.count)),
        a_(where, host_a_.size() * sizeof(T)),
        b_(where, host_b_.size() * sizeof(T)),
        c_(where, host_c_.size() * sizeof(T)),
        all_a_(where, a_.template as<T>(), size_a_, race.count),
        all_b_(where, b_.template as<T>(), size_b_, race.count),
        all_c_(where, c_.template as<T>(), size_c_, race.count) {
    a_.write(host_a_.data());
    b_.write(host_b_.data());
    GemmBatch& strided = work_.strided;
    strided.call = call(a_.template as<T>(), b_.template as<T>(), c_.template as<T>());
    strided.count = race.count;
    strided.stride_a = size_a_;
    strided.stride_b = size_b_;
    strided.stride_c = size_c_;
    work_.with_pointers = strided;
    work_.with_pointers.a = all_a_.host();
    work_.with_pointers.b = all_b_.host();
    work_.with_pointers.c = all_c_.host();
    work_.device_a = all_a_.device();
    work_.device_b = all_b_.device();
    work_.device_c = all_c_.device();
  }

  const BatchWork& work() const { return work_; }
  /// Fills C with NaN, or with zeros where products are added to it.
  void spoil() {
    std::fill(host_c_.begin(), host_c_.end(), race_.beta == 0 ? std::numeric_limits<T>::quiet_NaN() : T{0});
    c_.write(host_c_.data());
  }
  /// Returns what is wrong with C after one batch, or an empty text.
  std::string offence() {
    c_.read(host_c_.data());
    constexpr Index sample = 16;
    for (Index s = 0; s < std::min(sample, race_.count); ++s) {
      const Index i = race_.count <= sample ? s : s * (race_.count - 1) / (sample - 1);
      std::vector<T> before(static_cast<std::size_t>(size_c_), T{0});
      GemmCall one = call(&host_a_[static_cast<std::size_t>(i * size_a_)],
                          &host_b_[static_cast<std::size_t>(i * size_b_)], before.data());
      const GemmReference reference(one);
      const GemmError error =
          reference.compare(&host_c_[static_cast<std::size_t>(i * size_c_)], one.ldc, {.type = one.type});
      if (!error.within_bound())
        return fmt::format("wrong: product {} is off by {:.3g} times the error bound at ({}, {})", i,
                           error.max_over_bound, error.worst_row, error.worst_col);
    }
    return {};
  }

 private:
  GemmCall call(const T* a, const T* b, T* c) const {
    const GemmShape& s = race_.shape;
    return {{.type = dtype_of<T>,
             .op_a = race_.op_a,
             .op_b = race_.op_b,
             .m = s.m,
             .n = s.n,
             .k = s.k,
             .a = a,
             .lda = race_.op_a == Op::None ? s.k : s.m,
             .b = b,
             .ldb = race_.op_b == Op::None ? s.n : s.k,
             .beta = race_.beta,
             .c = c,
             .ldc = s.n,
             .threads = race_.threads}};
  }

  BatchRace race_;
  Index size_a_, size_b_, size_c_;
  std::vector<T> host_a_, host_b_, host_c_;
  DeviceMemory a_, b_, c_;
  Pointers<T> all_a_, all_b_, all_c_;
  BatchWork work_;
};

/// Returns the seconds of one of `calls` batches in a row.
double seconds_per_batch(measure::Stopwatch& watch, BatchPeer& peer, const BatchWork& work, long calls) {
  throw_if_failed(watch.time([&] {
    for (long i = 0; i < calls; ++i) peer.multiply(work);
  }));
  return watch.seconds() / static_cast<double>(calls);
}

template <class T>
std::vector<Standing> run(const BatchRace& race, Executor& where, const BatchPeers& peers, int rounds,
                          double sample_seconds, double rest_seconds) {
  Course<T> course(race, where);
  measure::Stopwatch watch(where);
  const BatchWork& work = course.work();
  std::vector<Standing> standings;
  std::vector<long> calls;
  for (const auto& peer : peers) {
    course.spoil();
    seconds_per_batch(watch, *peer, work, 1); // the peer starts its threads and loads its code
    standings.push_back({peer->name(), {}, course.offence()});
    calls.push_back(measure::calls_per_sample(sample_seconds, seconds_per_batch(watch, *peer, work, 3)));
  }
  for (int round = 0; round < rounds; ++round)
    measure::take_rotated_turns(round, peers.size(), [&](std::size_t p) {
      if (!standings[p].problem.empty()) return;
      if (race.threads > 1) std::this_thread::sleep_for(std::chrono::duration<double>(rest_seconds));
      seconds_per_batch(watch, *peers[p], work, std::max(1L, calls[p] / 5)); // wakes the peer's threads
      standings[p].seconds.push_back(seconds_per_batch(watch, *peers[p], work, calls[p]));
    });
  return standings;
}

double gflops(const BatchRace& race, double seconds) {
  const GemmShape& s = race.shape;
  return 2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k) *
         static_cast<double>(race.count) / seconds;
}

constexpr std::size_t column = 24;

} // namespace

std::vector<Standing> run_batch_race(const BatchRace& race, Executor& where, const BatchPeers& peers, int rounds,
                                     double sample_seconds, double rest_seconds) {
  return visit_scalar(race.type, [&]<class T>(std::type_identity<T>) {
    return run<T>(race, where, peers, rounds, sample_seconds, rest_seconds);
  });
}

std::string batch_table_head(const BatchPeers& peers) {
  std::string line = apps::pad_right("count × m×n×k", 28) + "  thr";
  for (const auto& peer : peers) line += fmt::format("  {:>{}}", peer->name(), column);
  return line + "  best / best library";
}

std::string batch_table_line(const BatchRace& race, const std::vector<Standing>& standings) {
  const GemmShape& s = race.shape;
  std::string line =
      apps::pad_right(fmt::format("{} {} × {}×{}×{}", to_string(race.type), race.count, s.m, s.n, s.k), 28) +
      fmt::format("  {:>3}", race.threads);
  double ours = 0, theirs = 0;
  for (const Standing& one : standings) {
    if (!one.problem.empty()) {
      line += fmt::format("  {:>{}}", "WRONG", column);
      continue;
    }
    const double seconds = measure::summarize(one.seconds).median;
    const double rate = gflops(race, seconds);
    line += fmt::format("  {:>{}}", fmt::format("{:.1f} µs {:.1f} GF/s", seconds * 1e6, rate), column);
    double& best = one.peer.starts_with("tessera-") ? ours : theirs;
    best = std::max(best, rate);
  }
  return theirs > 0 ? line + fmt::format("  {:.2f}", ours / theirs) : line;
}

std::vector<nlohmann::ordered_json> batch_entries(const BatchRace& race, const std::vector<Standing>& standings) {
  std::vector<nlohmann::ordered_json> entries;
  for (const Standing& one : standings) {
    nlohmann::ordered_json entry{{"dtype", to_string(race.type)},
                                 {"count", race.count},
                                 {"m", race.shape.m},
                                 {"n", race.shape.n},
                                 {"k", race.shape.k},
                                 {"trans_a", race.op_a == Op::Transpose},
                                 {"trans_b", race.op_b == Op::Transpose},
                                 {"beta", race.beta},
                                 {"threads", race.threads},
                                 {"peer", one.peer}};
    if (!one.seconds.empty()) {
      const measure::TimeSummary time = measure::summarize(one.seconds);
      entry["gflops"] = gflops(race, time.median);
      entry["seconds"] = time_json(one.seconds);
    }
    if (!one.problem.empty()) entry["problem"] = one.problem;
    entries.push_back(std::move(entry));
  }
  return entries;
}

} // namespace tessera::bench
