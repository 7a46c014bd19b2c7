#include "measures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tessera::judge {

void TimesByData::add(Kind kind, double seconds, double least_work) {
  if (kind == Kind::Permuted) known_ = std::min(known_, seconds);
  if (kind == Kind::Fresh) fresh_ = std::min(fresh_, least_work);
}

std::string TimesByData::difference() const {
  constexpr double factor = 2.5, shortest = 0.25e-3;
  if (!(fresh_ > shortest) || !std::isfinite(fresh_) || factor * known_ > fresh_) return {};
  return fmt::format(
      "a call with the rows and columns of an earlier call took {:.3g} s, and with new data {:.3g} s at least", known_,
      fresh_);
}

BusyMachine::BusyMachine(const Trial& trial, int threads)
    : trial_(trial), threads_(threads), before_(trial.all_processor_seconds()) {}

void BusyMachine::add(double seconds) {
  timed_ += seconds;
  waited_ += trial_.waited_seconds();
}

std::string BusyMachine::found() const {
  constexpr double much = 0.1, a_moment = 1e-3; // a thread that is woken may wait for a moment on every machine
  if (waited_ > much * timed_ + a_moment)
    return fmt::format("its threads had no processor for {:.0f} % of its time", 100 * std::min(1.0, waited_ / timed_));
  if (trial_.knows_all_waiting()) return {};
  const double taken = others_.share_of(threads_, trial_.all_processor_seconds() - before_);
  if (taken <= much) return {};
  return fmt::format("other programs had {:.0f} % of the {} that it was given", 100 * taken,
                     threads_ == 1 ? "processor" : "processors");
}

} // namespace tessera::judge
