#include "race.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include <tessera/beyond_memory/many_executors.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "core/measure/repeat.hpp"
#include "cublas_xt.hpp"
#include "operands.hpp"

namespace tessera::bench {
namespace {

/// Sides of cuBLASXt's blocks, of which it is given the fastest.
constexpr int block_sides[]{2048, 4096, 8192};

/// One that takes part: it computes C.
struct Entrant {
  HostStanding standing;
  std::function<void()> multiply;
  bool is_ours = true;
  int rounds = 0; ///< that it still takes part in
};

template <class T>
class HostRace {
 public:
  HostRace(const GemmShape& shape, const std::vector<ExecutorList>& lists, const Repeats& repeats, RaceMemory& memory)
      : lists_(lists), repeats_(repeats), memory_(memory), operands_(shape, memory.host) {}

  std::vector<HostStanding> run() {
    enter_all();
    for (Entrant& one : entrants_) guard(one, [&] { warm_up(one); });
    for (int round = 0; round < repeats_.rounds; ++round)
      measure::take_rotated_turns(round, entrants_.size(), [&](std::size_t i) {
        Entrant& one = entrants_[i];
        if (!one.standing.problem.empty() || round >= one.rounds) return;
        guard(one, [&] {
          one.standing.seconds.push_back(seconds_of(one.multiply));
          if (round == (i == 0 ? 0 : one.rounds - 1)) operands_.judge(one.standing, one.is_ours);
        });
      });
    std::vector<HostStanding> standings;
    for (Entrant& one : entrants_) standings.push_back(std::move(one.standing));
    return standings;
  }

 private:
  void enter_all() {
    for (const ExecutorList& list : lists_) {
      entrants_.push_back({{"tessera", list.text, {}, {}, {}, 0}, [this, &list] {
                             gemm(list.executors, Scalar<T>{1}, operands_.a(), operands_.b(), Scalar<T>{0},
                                  operands_.c());
                           }});
    }
    for (const ExecutorList& list : lists_) {
      if (list.devices.empty() || !CublasXt::takes(dtype_of<T>)) continue;
      Entrant vendor{{"cublas-xt", list.text, {}, {}, {}, 0}, {}, false};
      guard(vendor, [&] {
        vendors_.push_back(std::make_unique<CublasXt>(list.devices));
        vendor.multiply = [this, library = vendors_.back().get()] { library->gemm(operands_.call()); };
      });
      entrants_.push_back(std::move(vendor));
    }
  }

  /// Computes once what is not counted, unless it takes so long that it is the only sample.
  void warm_up(Entrant& one) {
    const double seconds = one.is_ours ? seconds_of(one.multiply) : warm_up_vendor(one);
    one.rounds = measure::runs_within(repeats_.seconds, seconds, repeats_.rounds);
    if (seconds < repeats_.seconds) return;
    one.rounds = 0;
    one.standing.seconds.push_back(seconds);
    operands_.judge(one.standing, one.is_ours);
  }

  /// Computes once with each side of cuBLASXt's blocks; large products take the side of the race before.
  double warm_up_vendor(Entrant& one) {
    constexpr double cheap = 1;
    CublasXt& library = *vendors_[static_cast<std::size_t>(vendors_entered_++)];
    int& fastest = memory_.sides[fmt::format("{} {}", to_string(dtype_of<T>), one.standing.executors)];
    if (fastest != 0) library.set_block(fastest);
    double least = seconds_of(one.multiply);
    if (fastest == 0 || least < cheap) {
      least = std::numeric_limits<double>::infinity();
      for (const int side : block_sides) {
        library.set_block(side);
        if (const double seconds = seconds_of(one.multiply); seconds < least) {
          least = seconds;
          fastest = side;
        }
      }
      library.set_block(fastest);
    }
    one.standing.check = fmt::format("blocks of {}; ", fastest);
    return least;
  }

  double seconds_of(const std::function<void()>& multiply) {
    operands_.spoil_c();
    const measure::HostStopwatch watch;
    multiply();
    return watch.seconds();
  }

  template <class Work>
  static void guard(Entrant& one, Work&& work) try {
    work();
  } catch (const Error& error) {
    one.standing.problem = error.what();
  }

  const std::vector<ExecutorList>& lists_;
  const Repeats repeats_;
  RaceMemory& memory_;
  HostOperands<T> operands_;
  std::vector<std::unique_ptr<CublasXt>> vendors_;
  int vendors_entered_ = 0;
  std::vector<Entrant> entrants_;
};

} // namespace

std::vector<HostStanding> run_host_race(const GemmShape& shape, DType type, const std::vector<ExecutorList>& lists,
                                        const Repeats& repeats, RaceMemory& memory) {
  return visit(type, [&]<class T>(std::type_identity<T>) { return HostRace<T>(shape, lists, repeats, memory).run(); });
}

} // namespace tessera::bench
