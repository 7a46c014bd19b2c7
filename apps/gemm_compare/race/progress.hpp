#pragma once

/// A line on stderr that says how much is done and how long the rest takes. On a terminal it is renewed, below the
/// entries that have been measured since the last table. In a log a further line comes every ten seconds, without
/// entries.

#include <atomic>
#include <map>
#include <string>

#include <tessera/detail/stopwatch.hpp>

namespace tessera::compare_app {

class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress() { clear(); }

  /// Announces the floating-point operations of all runs of a kernel.
  void expect(const std::string& kernel, double operations);
  /// The kernel is about to run; `what` is shown.
  void show(const std::string& what);
  /// Some of the announced operations are done, or will not take place. `seconds`: the time they took; 0: unknown.
  void done(const std::string& kernel, double operations, double seconds);
  /// Shows an entry that has been measured. The table that follows shows it with its neighbours.
  void add_entry(const std::string& text);
  /// Takes the entries and the line off the terminal.
  void clear();

 private:
  double seconds_left() const;
  void renew_line(double share, double left, const std::string& what);

  bool enabled_;
  bool on_terminal_;
  std::atomic<bool> visible_ = false; // an interrupt clears the line from another thread
  std::atomic<int> lines_ = 0;
  measure::HostStopwatch watch_;
  double shown_ = -1;                    ///< seconds from the start to the last time that the line was written
  std::map<std::string, double> left_;   ///< operations
  std::map<std::string, double> speeds_; ///< operations per second, as last seen
};

} // namespace tessera::compare_app
