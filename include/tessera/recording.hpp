#pragma once

/// Work recorded once and enqueued as a whole, so that a device need not wait for the host between short kernels.
///
///     std::unique_ptr<Recording> recording;
///     Status status = record(queue, [&] { return executor.gemm(queue, call); }, recording);
///     status = recording->replay(queue);   // as often as wanted
///
/// Idea: CUDA's graphs, captured from a stream.

#include <functional>
#include <memory>

#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

namespace tessera {

/// What was enqueued while a queue was recorded: the same kernels with the same arguments. It holds the memory that
/// they need besides their operands, each piece used again by what comes after, and gives it back when it is destroyed.
/// So it does with what is freed while its executor's default queue is recorded. What is allocated then is there at
/// once, as ever, and belongs to who allocated it.
/// That waits for nothing: its last replay must have ended, and its executor must still be there. The queue need not.
class TESSERA_API Recording {
 public:
  virtual ~Recording();
  /// Enqueues all of it. `queue` is of the executor that recorded it.
  virtual Status replay(Queue& queue) noexcept = 0;
};

/// What a queue implements besides Queue if it can record. While it does, nothing that it is given runs; work that
/// waits for the queue fails, and so does the recording.
class TESSERA_API Recorder {
 public:
  virtual ~Recorder();
  virtual Status begin_recording() noexcept = 0;
  /// Ends it, also after a failure. On failure `recording` stays null and the queue is as it was before.
  virtual Status end_recording(std::unique_ptr<Recording>& recording) noexcept = 0;
};

/// Whether this queue records.
TESSERA_API bool records(const Queue& queue) noexcept;

/// Records what `work` enqueues. Rejected, with the reason, if the queue does not record; else what `work` returned if
/// that is no success, or why its work cannot be recorded. Products that need memory besides their operands (16-bit
/// results of f32 operands and epilogues of 16-bit results where the kernel leaves them to a pass of their own, complex
/// ones) are recorded on the executor's default queue alone: another one rejects them.
TESSERA_API Status record(Queue& queue, const std::function<Status()>& work, std::unique_ptr<Recording>& recording);

/// Whether the calling thread is within record() for this queue.
TESSERA_API bool is_being_recorded(const Queue& queue) noexcept;

} // namespace tessera
