#include "measures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tessera::judge {
namespace {

constexpr double much = 0.1; ///< of a time

} // namespace

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
  judge_late_ += trial_.judge_late_seconds();
  ran_ += trial_.processor_seconds();
  windows_ += trial_.window_seconds();
}

bool BusyMachine::has_waited() const {
  constexpr double a_moment = 1e-3; // a thread that is woken may wait for a moment on every machine
  return waited_ > much * timed_ + a_moment;
}

// A thread cannot run and wait for longer than time passes, whatever other programs do.
bool BusyMachine::has_more_threads() const {
  constexpr double a_moment = 1e-3;
  return has_waited() && ran_ + waited_ > (1 + much) * threads_ * windows_ + a_moment;
}

std::string BusyMachine::waiting(const char* why) const {
  return fmt::format("its threads {} for {:.0f} % of its time", why, 100 * std::min(1.0, waited_ / timed_));
}

std::string BusyMachine::own_waiting() const {
  return has_more_threads() ? waiting(threads_ == 1 ? "waited for one another on the processor that it was given,"
                                                    : "waited for one another on the processors that it was given,")
                            : "";
}

std::string BusyMachine::found() const {
  if (has_waited() && !has_more_threads()) return waiting("had no processor");
  // Then it looked late, and what the kernel wrote after its return was there by then.
  constexpr double a_wake = 0.1e-3;
  if (judge_late_ > much * timed_ + a_wake)
    return fmt::format("gemm_compare itself had no processor for {:.0f} % of the time",
                       100 * std::min(1.0, judge_late_ / timed_));
  if (trial_.knows_all_waiting()) return {};
  const double taken = others_.share_of(threads_, trial_.all_processor_seconds() - before_);
  if (taken <= much) return {};
  return fmt::format("other programs had {:.0f} % of the {} that it was given", 100 * taken,
                     threads_ == 1 ? "processor" : "processors");
}

} // namespace tessera::judge
