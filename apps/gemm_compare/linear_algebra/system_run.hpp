#pragma once

/// One run of an operation of linear algebra, in three parts, of which the second alone is timed: the constructor takes
/// memory and brings the data to where the way has them; compute(); fetch().

#include <functional>
#include <utility>

namespace tessera::compare_app {

template <class T>
class SystemRun {
 public:
  SystemRun() = default;
  virtual ~SystemRun() = default;
  SystemRun(const SystemRun&) = delete;
  SystemRun& operator=(const SystemRun&) = delete;

  /// Computes, and returns when the results are there. Throws Error where it cannot.
  virtual void compute() = 0;
  /// Brings the results into the work's memory. Throws Error where the computation has failed.
  virtual void fetch() = 0;
};

/// A run in the work's memory itself.
template <class T>
class HostRun final : public SystemRun<T> {
 public:
  explicit HostRun(std::function<void()> body) : body_(std::move(body)) {}
  void compute() override { body_(); }
  void fetch() override {}

 private:
  std::function<void()> body_;
};

} // namespace tessera::compare_app
