#include "race.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include <fmt/format.h>

#include <tessera/checking/compare.hpp>
#include <tessera/matrix.hpp>

#include "core/measure/repeat.hpp"
#include "probe.hpp"

namespace tessera::bench {
namespace {

/// After this time the system has given each woken thread a processor. At first it queues some threads after others,
/// and a team waits for all of its threads.
constexpr double warm_up_seconds = 0.02;

template <class T>
class Course {
 public:
  explicit Course(const Race& race)
      : a_(stored(race.product.op_a, race.product.shape.m, race.product.shape.k, Seed{1})),
        b_(stored(race.product.op_b, race.product.shape.k, race.product.shape.n, Seed{2})),
        old_c_(Matrix<T>::random(race.product.shape.m, race.product.shape.n, Seed{3})),
        c_(old_c_) {
    const GemmShape& shape = race.product.shape;
    call_ = {{.type = dtype_of<T>,
              .op_a = race.product.op_a,
              .op_b = race.product.op_b,
              .m = shape.m,
              .n = shape.n,
              .k = shape.k,
              .alpha = race.product.alpha,
              .a = std::as_const(a_).data(),
              .lda = a_.ld(),
              .b = std::as_const(b_).data(),
              .ldb = b_.ld(),
              .beta = race.product.beta,
              .c = c_.data(),
              .ldc = c_.ld(),
              .threads = race.threads}};
    // All rows of a small product are compared, and some rows of a large one.
    const double row = static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const auto rows = static_cast<Index>(std::max(8.0, 3e8 / std::max(row, 1.0)));
    reference_ = std::make_unique<GemmReference>(call_, sample_rows(shape.m, rows, 1));
  }

  const GemmCall& call() const { return call_; }
  /// Makes C what it is before a sample: NaN where the product does not read it.
  void reset() {
    if (call_.beta == 0)
      std::fill_n(c_.data(), c_.ld() * call_.m, std::numeric_limits<T>::quiet_NaN());
    else
      std::copy_n(std::as_const(old_c_).data(), c_.ld() * call_.m, c_.data());
  }
  /// Returns what is wrong with C after the peer's sample; empty if it is within the error bound. Where products read
  /// C, each one of the sample began with another C, so one more is computed that begins with the C of the reference.
  std::string offence(Peer& peer) {
    if (call_.beta != 0) {
      reset();
      peer.multiply(call_);
    }
    const GemmError error = reference_->compare(call_.c, call_.ldc, {.type = call_.type});
    if (error.within_bound()) return {};
    return fmt::format("wrong: {:.3g} times the error bound at ({}, {})", error.max_over_bound, error.worst_row,
                       error.worst_col);
  }

 private:
  /// A random matrix whose `op` has `rows` rows and `cols` columns.
  static Matrix<T> stored(Op op, Index rows, Index cols, Seed seed) {
    return op == Op::None ? Matrix<T>::random(rows, cols, seed) : Matrix<T>::random(cols, rows, seed);
  }

  Matrix<T> a_, b_, old_c_, c_;
  GemmCall call_;
  std::unique_ptr<GemmReference> reference_;
};

template <class T>
std::vector<Standing> run(const Race& race, const std::vector<std::unique_ptr<Peer>>& peers, int rounds,
                          double sample_seconds, double rest_seconds) {
  Course<T> course(race);
  const auto rest_and_warm_up = [&](Peer& peer) {
    course.reset();
    if (race.threads <= 1) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(rest_seconds));
    measure::warm_up(warm_up_seconds, [&] { peer.multiply(course.call()); });
  };
  std::vector<Standing> standings;
  std::vector<long> calls;
  for (const auto& peer : peers) {
    Standing standing{peer->name(), {}, peer->problem(course.call())};
    double once = 0;
    if (standing.problem.empty()) {
      rest_and_warm_up(*peer);
      peer->multiply(course.call()); // the peer starts its threads and loads its code
      once = measure::host_seconds([&] { peer->multiply(course.call()); });
    }
    calls.push_back(measure::calls_per_sample(sample_seconds, once));
    standings.push_back(std::move(standing));
  }
  Standing probe{probe_name, {}, {}};
  const double operations = 2.0 * multiply_adds(race.product);
  for (int round = 0; round < rounds; ++round) {
    probe.seconds.push_back(operations / probe_flops(race.type, race.threads));
    measure::take_rotated_turns(round, peers.size(), [&](std::size_t p) {
      if (!standings[p].problem.empty()) return;
      rest_and_warm_up(*peers[p]);
      standings[p].seconds.push_back(
          measure::host_seconds_per_call(calls[p], [&] { peers[p]->multiply(course.call()); }));
      if (round + 1 == rounds) standings[p].problem = course.offence(*peers[p]);
    });
  }
  standings.push_back(std::move(probe));
  return standings;
}

} // namespace

std::vector<Standing> run_race(const Race& race, const std::vector<std::unique_ptr<Peer>>& peers, int rounds,
                               double sample_seconds, double rest_seconds) {
  return visit_scalar(race.type, [&]<class T>(std::type_identity<T>) {
    return run<T>(race, peers, rounds, sample_seconds, rest_seconds);
  });
}

} // namespace tessera::bench
