#pragma once

/// Work that is recorded once and enqueued as a whole, so that a device need not wait for the host between short
/// kernels.
///
///     std::unique_ptr<Recording> recording;
///     Status status = record(queue, [&] { return executor.gemm(queue, call); }, recording);
///     status = recording->replay(queue);   // as often as wanted
///
/// Source: CUDA's graphs, captured from a stream.

#include <functional>
#include <memory>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The work that was enqueued while a queue was recorded: kernels with their arguments.
///
/// A recording owns the memory that its kernels need besides their operands; a later kernel uses again what an earlier
/// one needed. It also owns memory that was freed while its executor's default queue was recorded. Memory that was
/// allocated meanwhile exists at once and belongs to the caller that allocated it.
///
/// The destructor frees the recording's memory and waits for nothing: the last replay must have ended, and the executor
/// must still exist. The queue that was recorded may be gone.
class TESSERA_API Recording {
 public:
  /// Frees the recording's memory and waits for nothing.
  virtual ~Recording();
  /// Enqueues the recorded work in `queue`, which must belong to the executor that recorded it.
  virtual Status replay(Queue& queue) noexcept = 0;
};

/// The second interface of a queue that can record. While it records, it runs nothing that is enqueued; work that waits
/// for the queue fails, and so does the recording.
class TESSERA_API Recorder {
 public:
  /// Ends the recorder together with its queue.
  virtual ~Recorder();
  /// Begins to record what is enqueued from now on.
  virtual Status begin_recording() noexcept = 0;
  /// Ends the recording, also after a failure. On failure `recording` stays null and the queue runs work again.
  virtual Status end_recording(std::unique_ptr<Recording>& recording) noexcept = 0;
};

/// Can this queue record?
TESSERA_API bool records(const Queue& queue) noexcept;

/// Records the work that `work` enqueues. Returns Rejected, with the reason, if the queue cannot record; else the
/// failure of `work`, or the reason why its work cannot be recorded.
///
/// Only the executor's default queue records products that need memory besides their operands; other queues reject
/// them. These are complex products, and products with 16-bit results whose kernel leaves rounding or the epilogue to a
/// separate pass.
TESSERA_API Status record(Queue& queue, const std::function<Status()>& work, std::unique_ptr<Recording>& recording);

/// Is the calling thread within record() for this queue?
TESSERA_API bool is_being_recorded(const Queue& queue) noexcept;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
