#include <tessera/recording.hpp>

namespace tessera {

Recording::~Recording() = default;
Recorder::~Recorder() = default;

bool records(const Queue& queue) noexcept { return dynamic_cast<const Recorder*>(&queue) != nullptr; }

Status record(Queue& queue, const std::function<Status()>& work, std::unique_ptr<Recording>& recording) {
  recording.reset();
  auto* recorder = dynamic_cast<Recorder*>(&queue);
  if (recorder == nullptr) return {StatusCode::Rejected, "the queues of this backend do not record"};
  if (Status status = recorder->begin_recording(); !status.ok()) return status;
  Status worked;
  try {
    worked = work();
  } catch (...) {
    static_cast<void>(recorder->end_recording(recording));
    recording.reset();
    throw;
  }
  Status ended = recorder->end_recording(recording);
  if (worked.ok()) return ended;
  recording.reset();
  return worked;
}

} // namespace tessera
