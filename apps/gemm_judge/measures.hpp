#pragma once

/// What the times of a trial's calls say of the kernel and of the machine.

#include <limits>
#include <string>

#include "examiner.hpp"
#include "processes/other_programs.hpp"
#include "trial.hpp"

namespace tessera::judge {

/// Finds kernels that take long with new data alone, because they look the other answers up. The work of a product does
/// not depend on its data, so that the times of honest calls differ by what disturbs them, or by work done once.
class TimesByData {
 public:
  /// `least_work`: seconds that the call took at least, whatever disturbed it.
  void add(Kind kind, double seconds, double least_work);
  /// Returns what gives the kernel away; "" if nothing does.
  std::string difference() const;

 private:
  double known_ = std::numeric_limits<double>::infinity(), fresh_ = known_;
};

/// Finds out why a kernel's threads had to wait for processors while it was timed: because other programs were at work,
/// or because it has more threads than it was given.
class BusyMachine {
 public:
  /// Begins to count. `trial` must outlive this object.
  BusyMachine(const Trial& trial, int threads);

  /// Adds the last call, which was timed.
  void add(double seconds);
  /// Says why the times are no measure of the kernel; "" if they are.
  std::string found() const;
  /// Says how its threads waited for one another on the processors that it was given; "" if they did not.
  std::string own_waiting() const;

 private:
  bool has_waited() const;
  /// Did threads run and wait for longer than as many as it was given can?
  bool has_more_threads() const;
  std::string waiting(const char* why) const;

  const Trial& trial_;
  const OtherPrograms others_;
  const int threads_;
  const double before_;
  double timed_ = 0, waited_ = 0, judge_late_ = 0; ///< seconds
  double ran_ = 0, windows_ = 0;                   ///< seconds of processors, and of time that passed meanwhile
};

} // namespace tessera::judge
