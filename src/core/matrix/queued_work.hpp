#pragma once

/// One piece of work in an ExecutionQueue, and the matrices that it uses.

#include <deque>
#include <memory>
#include <optional>

#include <tessera/detail/storage.hpp>
#include <tessera/queue.hpp>

namespace tessera::detail {

/// Brings the operands of work to the queue's executor, holds them there as long as it lives, and notes at the end that
/// the queue uses them. On an executor in host memory, whose work is done when a call returns, there is nothing to
/// note.
///
///     QueuedWork work(queue);
///     const Placed x = work.read(from), z = work.write(to, true);
///     // … enqueue in queue.queue() …
///     work.done();
class QueuedWork {
 public:
  /// The work starts after what functions without a queue have given the executor.
  explicit QueuedWork(ExecutionQueue& queue);
  /// Waits for the queue where done() was not called, because something was enqueued that no matrix knows of.
  ~QueuedWork();
  QueuedWork(const QueuedWork&) = delete;
  QueuedWork& operator=(const QueuedWork&) = delete;

  /// Returns the operand's place in the executor's memory, where the queue may read it.
  Placed read(const Operand& x);
  /// Returns the place where the queue may write the operand; `discard`: it writes all elements of the operand.
  Placed write(const Operand& z, bool discard);
  /// Return the operand's place in host memory, for a copy from there or to there by the queue.
  Placed read_on_host(const Operand& x);
  Placed write_on_host(const Operand& z);

  /// Notes the work. The operands that were written have their newest elements where it wrote them.
  void done();

 private:
  enum class Use { Device, WrittenOnDevice, Host, WrittenOnHost };
  struct Used {
    Operand operand;
    Use use;
    std::optional<DeviceHold> hold;

    Used(const Operand& x, Use how) : operand(x), use(how) {}
  };

  ExecutionQueue& queue_;
  const bool on_host_;
  bool done_ = false;
  std::deque<Used> used_; ///< holds refer to their operands here
};

} // namespace tessera::detail
