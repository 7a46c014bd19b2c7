#pragma once

/// Queues and events of a stand-in for a GPU, which see whether a program changes host memory while a GPU would still
/// be copying it. The stand-in has copied when a call returns; but what a GPU may copy later is kept here, and
/// compared with the memory when the program has waited for the copy.

#include <chrono>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include <tessera/executor.hpp>

namespace tessera::test {

/// The copies of one queue that the program has not waited for.
class CopiesUnderWay {
 public:
  void add(const CopyCall& call) {
    const std::lock_guard lock(mutex_);
    Copy copy{call, {}};
    for (std::size_t row = 0; row < call.rows; ++row)
      copy.bytes.insert(copy.bytes.end(), row_of(call, row), row_of(call, row) + call.width);
    copies_.push_back(std::move(copy));
    ++enqueued_;
  }
  /// Returns how many copies were enqueued so far.
  std::size_t enqueued() {
    const std::lock_guard lock(mutex_);
    return enqueued_;
  }
  /// The program has waited for the first `count` copies that were enqueued.
  Status end(std::size_t count) {
    const std::lock_guard lock(mutex_);
    Status status;
    for (; ended_ < count; ++ended_) {
      const Copy& copy = copies_.front();
      for (std::size_t row = 0; row < copy.call.rows; ++row)
        if (std::memcmp(row_of(copy.call, row), copy.bytes.data() + row * copy.call.width, copy.call.width) != 0)
          status = {StatusCode::DeviceError, "host memory was changed while the small device was copying it"};
      copies_.pop_front();
    }
    return status;
  }

 private:
  struct Copy {
    CopyCall call;
    std::vector<char> bytes;
  };
  static const char* row_of(const CopyCall& call, std::size_t row) {
    return static_cast<const char*>(call.from) + row * call.from_pitch;
  }

  std::mutex mutex_;
  std::deque<Copy> copies_;
  std::size_t enqueued_ = 0, ended_ = 0;
};

/// A queue whose copies are watched.
class WatchedQueue : public Queue {
 public:
  Status synchronize() noexcept override { return copies_->end(copies_->enqueued()); }
  /// A GPU would wait by itself: the host has not waited for the event.
  Status wait(Event&) noexcept override { return {}; }
  const std::shared_ptr<CopiesUnderWay>& copies() const noexcept { return copies_; }

 private:
  std::shared_ptr<CopiesUnderWay> copies_ = std::make_shared<CopiesUnderWay>();
};

class WatchedEvent final : public Event {
 public:
  Status record(Queue& queue) noexcept override {
    const auto* const watched = dynamic_cast<WatchedQueue*>(&queue);
    copies_ = watched != nullptr ? watched->copies() : nullptr;
    count_ = copies_ != nullptr ? copies_->enqueued() : 0;
    time_ = std::chrono::steady_clock::now();
    return {};
  }
  Status synchronize() noexcept override { return copies_ != nullptr ? copies_->end(count_) : Status{}; }
  Status seconds_since(const Event& start, double& seconds) noexcept override {
    seconds = std::chrono::duration<double>(time_ - static_cast<const WatchedEvent&>(start).time_).count();
    return synchronize();
  }

 private:
  std::shared_ptr<CopiesUnderWay> copies_;
  std::size_t count_ = 0;
  std::chrono::steady_clock::time_point time_;
};

} // namespace tessera::test
