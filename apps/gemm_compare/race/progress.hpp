#pragma once

/// One line on stderr, on a terminal only: how much is done, and how long the rest takes.

#include <atomic>
#include <chrono>
#include <map>
#include <string>

namespace tessera::compare_app {

class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress() { clear(); }

  /// Announces a kernel's runs: floating-point operations in all.
  void expect(const std::string& kernel, double operations);
  /// The kernel is about to run; `what` is shown.
  void show(const std::string& what);
  /// Some of what was expected is done, or will not be; `seconds` 0: nothing was learned about the kernel's speed.
  void done(const std::string& kernel, double operations, double seconds);
  /// Takes the line off the terminal.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_left() const;

  bool enabled_;
  std::atomic<bool> visible_ = false; // an interrupt clears the line from another thread
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_{};
  std::map<std::string, double> left_;   ///< operations
  std::map<std::string, double> speeds_; ///< operations per second, as last seen
};

} // namespace tessera::compare_app
