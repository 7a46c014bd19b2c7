#pragma once

/// A device without hardware whose queues do their work as late as they may: when the host waits for it. So a test sees
/// whether the host, or another queue, waits for what it needs. Its memory is NaN at first, and the host must not touch
/// it. The default queue of a device that is `eager` does its work as soon as it may, ahead of what others are late
/// with.

#include <array>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/host_executor.hpp>

namespace tessera::test {

/// What a queue was given to do. Events keep it, as a device keeps the work of a stream that was destroyed.
class LazyWork {
 public:
  using Work = std::function<Status()>;

  void give(Work work) {
    work_.push_back(std::move(work));
    ++given_;
  }
  long given() const { return given_; }
  long done() const { return done_; }

  /// Does the work up to this count. Returns its failure, as every later call does.
  Status run_until(long count) noexcept {
    while (done_ < count && !work_.empty()) {
      const Work work = std::move(work_.front());
      work_.pop_front();
      ++done_;
      Status status = work();
      if (failure_.ok()) failure_ = std::move(status);
    }
    return failure_;
  }

 private:
  std::deque<Work> work_;
  long given_ = 0, done_ = 0;
  Status failure_;
};

class LazyQueue final : public Queue {
 public:
  ~LazyQueue() override { static_cast<void>(synchronize()); }
  Status synchronize() noexcept override { return work_->run_until(work_->given()); }
  Status wait(Event& event) noexcept override;

  void give(LazyWork::Work work) { work_->give(std::move(work)); }
  long given() const { return work_->given(); }
  long done() const { return work_->done(); }
  const std::shared_ptr<LazyWork>& work() const { return work_; }

 private:
  std::shared_ptr<LazyWork> work_ = std::make_shared<LazyWork>();
};

/// The point in a queue at which it was recorded last.
class LazyEvent final : public Event {
 public:
  Status record(Queue& queue) noexcept override {
    work_ = static_cast<LazyQueue&>(queue).work();
    count_ = work_->given();
    return {};
  }
  Status synchronize() noexcept override { return work_ == nullptr ? Status{} : work_->run_until(count_); }
  Status seconds_since(const Event&, double& seconds) noexcept override {
    seconds = 1e-3;
    return synchronize();
  }
  const std::shared_ptr<LazyWork>& work() const { return work_; }
  long count() const { return count_; }

 private:
  std::shared_ptr<LazyWork> work_;
  long count_ = 0;
};

inline Status LazyQueue::wait(Event& event) noexcept {
  const auto& lazy = static_cast<const LazyEvent&>(event);
  give([work = lazy.work(), count = lazy.count()] { return work == nullptr ? Status{} : work->run_until(count); });
  return {};
}

class LazyDevice : public Executor {
 public:
  explicit LazyDevice(bool reaches_others = false) : reaches_others_(reaches_others) {
    capabilities_.backend = Backend::Cuda;
    capabilities_.device = "lazy";
    capabilities_.host_memory = false;
  }
  ~LazyDevice() override { static_cast<void>(queue_.synchronize()); }

  int copies_in = 0, copies_out = 0, copies_within = 0, pinned_blocks = 0;
  bool broken = false; ///< work fails when it is done
  bool eager = false;
  std::size_t blocks() const { return memory_.size(); }
  LazyQueue& default_lazy_queue() { return queue_; }

  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  Queue& default_queue() noexcept override { return queue_; }
  Status create_queue(std::unique_ptr<Queue>& queue) noexcept override {
    queue = std::make_unique<LazyQueue>();
    return {};
  }
  Status create_event(std::unique_ptr<Event>& event) noexcept override {
    event = std::make_unique<LazyEvent>();
    return {};
  }
  std::span<const GemmKernel> gemm_kernels() const noexcept override { return kernels_; }
  std::span<const ReduceKernel> reduce_kernels() const noexcept override { return {}; }
  Status measure_ceilings(DType, Math, int, Ceilings&) noexcept override { return {}; }

 protected:
  Capabilities capabilities_;

  Status run_allocate(std::size_t bytes, void*& memory) noexcept override {
    auto block = std::make_unique<char[]>(bytes + 64);
    memory = block.get();
    std::memset(memory, 0xff, bytes); // NaN
    memory_.emplace(memory, std::move(block));
    return {};
  }
  /// Frees after the work of the default queue and of this test's other queues, as the contract of free() says. The
  /// block is kept until then.
  void run_free(void* memory) noexcept override {
    const auto found = memory_.find(memory);
    std::shared_ptr<char[]> block = std::move(found->second);
    memory_.erase(found);
    kept_.push_back(std::move(block));
  }
  Status run_copy_in(Queue& queue, void* device, std::size_t device_pitch, const void* host, std::size_t host_pitch,
                     std::size_t width, std::size_t rows) noexcept override {
    ++copies_in;
    give(queue, [=] { return copy(device, device_pitch, host, host_pitch, width, rows); });
    return queue.synchronize();
  }
  Status run_copy_out(Queue& queue, void* host, std::size_t host_pitch, const void* device, std::size_t device_pitch,
                      std::size_t width, std::size_t rows) noexcept override {
    ++copies_out;
    give(queue, [=] { return copy(host, host_pitch, device, device_pitch, width, rows); });
    return queue.synchronize();
  }
  Status run_enqueue_copy(Queue& queue, const CopyCall& call) noexcept override {
    if (call.source != nullptr && !reaches_others_) return {StatusCode::Rejected, "lazy: it reaches no other device"};
    const void* const host = call.direction == CopyDirection::In    ? call.from
                             : call.direction == CopyDirection::Out ? call.to
                                                                    : nullptr;
    ++(call.direction == CopyDirection::In    ? copies_in
       : call.direction == CopyDirection::Out ? copies_out
                                              : copies_within);
    give(queue,
         [this, call] { return copy(call.to, call.to_pitch, call.from, call.from_pitch, call.width, call.rows); });
    return host == nullptr || is_pinned(host) ? Status{} : queue.synchronize(); // pageable memory: at once
  }
  Status run_allocate_host(std::size_t bytes, void*& memory) noexcept override {
    const Status status = Executor::run_allocate_host(bytes, memory);
    if (status.ok()) pinned_[memory] = bytes;
    pinned_blocks = static_cast<int>(pinned_.size());
    return status;
  }
  void run_free_host(void* memory) noexcept override {
    pinned_.erase(memory);
    pinned_blocks = static_cast<int>(pinned_.size());
    Executor::run_free_host(memory);
  }
  Status run_map(Queue& queue, const MapCall& call) noexcept override {
    give(queue, [call] { return reference().map(reference().default_queue(), call); });
    return {};
  }
  Status run_random(Queue& queue, const RandomCall& call) noexcept override {
    give(queue, [call] { return reference().random(reference().default_queue(), call); });
    return {};
  }
  Status run_finish(Queue& queue, const FinishCall& call) noexcept override {
    give(queue, [call] { return reference().finish(reference().default_queue(), call); });
    return {};
  }

 private:
  static Executor& reference() { return executor(Backend::Reference); }

  void give(Queue& queue, LazyWork::Work work) {
    static_cast<LazyQueue&>(queue).give([this, work = std::move(work)] {
      return broken ? Status{StatusCode::DeviceError, "lazy: the device is broken"} : work();
    });
    if (eager && &queue == &queue_) static_cast<void>(queue_.synchronize()); // a failure is kept
  }
  bool is_pinned(const void* p) const {
    const auto after = pinned_.upper_bound(const_cast<void*>(p));
    if (after == pinned_.begin()) return false;
    const auto& [memory, bytes] = *std::prev(after);
    return static_cast<const char*>(p) < static_cast<const char*>(memory) + bytes;
  }
  static Status copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                     std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i)
      std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width);
    return {};
  }
  static Status run_kernel(const GemmKernel&, Executor& self, Queue& queue, const GemmCall& call) noexcept {
    static_cast<LazyDevice&>(self).give(queue, [call] { return reference().gemm(reference().default_queue(), call); });
    return {};
  }

  bool reaches_others_;
  LazyQueue queue_;
  static constexpr GemmKernel row_of(DType type) {
    return {.name = "lazy", .type = type, .summation = Summation::Canonical, .run = run_kernel};
  }
  std::array<GemmKernel, 3> kernels_{row_of(DType::F32), row_of(DType::F64), row_of(DType::BF16)};
  std::map<void*, std::shared_ptr<char[]>> memory_;
  std::vector<std::shared_ptr<char[]>> kept_;
  std::map<void*, std::size_t> pinned_;
};

} // namespace tessera::test
