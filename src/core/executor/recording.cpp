#include <tessera/performance/recording.hpp>

#include <utility>

namespace tessera {
namespace {

thread_local const Queue* being_recorded = nullptr;

/// Marks a queue as recorded by this thread. The destructor restores the mark that was set before, because record() may
/// be called within the work of another record().
class Marked {
 public:
  explicit Marked(const Queue& queue) : before_(std::exchange(being_recorded, &queue)) {}
  ~Marked() { being_recorded = before_; }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;

 private:
  const Queue* before_;
};

} // namespace

bool is_being_recorded(const Queue& queue) noexcept { return being_recorded == &queue; }

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
    const Marked here(queue);
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
