#include "race.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/check.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/many_executors.hpp>
#include <tessera/matrix.hpp>

#include "common/machine.hpp"
#include "cublas_xt.hpp"
#include "measure/repeat.hpp"

namespace tessera::bench {
namespace {

/// Sides of cuBLASXt's blocks, of which it is given the fastest.
constexpr int block_sides[]{2048, 4096, 8192};

/// One that takes part: it computes C.
struct Entrant {
  HostStanding standing;
  std::function<void()> multiply;
  bool is_ours = true;
};

template <class T>
class HostRace {
 public:
  HostRace(const Shape& shape, const std::vector<ExecutorList>& lists)
      : shape_(shape),
        lists_(lists),
        pinning_(*lists.front().executors.front()),
        a_(Matrix<T>::pinned(shape.m, shape.k, pinning_)),
        b_(Matrix<T>::pinned(shape.k, shape.n, pinning_)),
        c_(Matrix<T>::pinned(shape.m, shape.n, pinning_)) {
    fill(a_, 1);
    fill(b_, 2);
  }

  std::vector<HostStanding> run(int rounds) {
    enter_all();
    for (Entrant& one : entrants_) guard(one, [&] { warm_up(one); });
    for (int round = 0; round < rounds; ++round)
      measure::take_rotated_turns(round, entrants_.size(), [&](std::size_t i) {
        Entrant& one = entrants_[i];
        if (one.standing.problem.empty()) guard(one, [&] { one.standing.seconds.push_back(seconds_of(one.multiply)); });
        const bool is_looked_at = i == 0 ? round == 0 : round == rounds - 1; // the others are compared with the first
        if (one.standing.problem.empty() && is_looked_at) guard(one, [&] { compare(one); });
      });
    std::vector<HostStanding> standings;
    for (Entrant& one : entrants_) standings.push_back(std::move(one.standing));
    return standings;
  }

 private:
  void enter_all() {
    for (const ExecutorList& list : lists_) {
      entrants_.push_back({{"tessera", list.text, {}, {}, {}},
                           [this, &list] { gemm(list.executors, Scalar<T>{1}, a_, b_, Scalar<T>{0}, c_); }});
    }
    for (const ExecutorList& list : lists_) {
      if (list.devices.empty() || !CublasXt::takes(dtype_of<T>)) continue;
      Entrant vendor{{"cublas-xt", list.text, {}, {}, {}}, {}, false};
      guard(vendor, [&] {
        vendors_.push_back(std::make_unique<CublasXt>(list.devices));
        vendor.multiply = [this, library = vendors_.back().get()] { library->gemm(call()); };
      });
      entrants_.push_back(std::move(vendor));
    }
  }

  /// Computes once what is not counted; for cuBLASXt once with each side of its blocks.
  void warm_up(Entrant& one) {
    if (one.is_ours) return static_cast<void>(seconds_of(one.multiply));
    CublasXt& library = *vendors_[static_cast<std::size_t>(vendors_entered_++)];
    int fastest = 0;
    double least = std::numeric_limits<double>::infinity();
    static_cast<void>(seconds_of(one.multiply));
    for (const int side : block_sides) {
      library.set_block(side);
      if (const double seconds = seconds_of(one.multiply); seconds < least) {
        least = seconds;
        fastest = side;
      }
    }
    library.set_block(fastest);
    one.standing.check = fmt::format("blocks of {}; ", fastest);
  }

  double seconds_of(const std::function<void()>& multiply) {
    c_.fill(std::numeric_limits<float>::quiet_NaN());
    static_cast<void>(c_.data()); // the host has the elements
    const measure::HostStopwatch watch;
    multiply();
    return watch.seconds();
  }

  void compare(Entrant& one) {
    if (one.is_ours && expected_) {
      one.standing.check += "same bits as the first";
      for (Index i = 0; i < c_.rows(); ++i)
        if (std::memcmp(&c_(i, 0), &(*expected_)(i, 0), static_cast<std::size_t>(c_.cols()) * sizeof(T)) != 0) {
          one.standing.problem = fmt::format("row {} has other bits than on {}", i, lists_.front().text);
          return;
        }
      return;
    }
    const Certificate answer = check(a_, b_, c_);
    one.standing.check += fmt::format("{} of its bound", answer.error.max_over_bound);
    if (!answer.right()) one.standing.problem = to_text(answer);
    if (one.is_ours) expected_ = c_;
  }

  GemmCall call() {
    return {.type = dtype_of<T>,
            .m = shape_.m,
            .n = shape_.n,
            .k = shape_.k,
            .a = a_.data(),
            .lda = a_.ld(),
            .b = b_.data(),
            .ldb = b_.ld(),
            .c = c_.data(),
            .ldc = c_.ld()};
  }

  static void fill(Matrix<T>& x, std::uint64_t seed) {
    Executor& host = executor(apps::processor_backends().front());
    throw_if_failed(host.random(
        host.default_queue(),
        {.type = dtype_of<T>, .rows = x.rows(), .cols = x.cols(), .z = x.data(), .ldz = x.ld(), .seed = seed}));
  }

  template <class Work>
  static void guard(Entrant& one, Work&& work) try {
    work();
  } catch (const Error& error) {
    one.standing.problem = error.what();
  }

  const Shape shape_;
  const std::vector<ExecutorList>& lists_;
  Executor& pinning_;
  Matrix<T> a_, b_, c_;
  std::optional<Matrix<T>> expected_;
  std::vector<std::unique_ptr<CublasXt>> vendors_;
  int vendors_entered_ = 0;
  std::vector<Entrant> entrants_;
};

} // namespace

std::vector<HostStanding> run_host_race(const Shape& shape, DType type, const std::vector<ExecutorList>& lists,
                                        int rounds) {
  switch (type) {
    case DType::F64:
      return HostRace<double>(shape, lists).run(rounds);
    case DType::F16:
      return HostRace<f16>(shape, lists).run(rounds);
    case DType::BF16:
      return HostRace<bf16>(shape, lists).run(rounds);
    default:
      return HostRace<float>(shape, lists).run(rounds);
  }
}

} // namespace tessera::bench
