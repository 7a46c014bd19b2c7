#include <tessera/queue.hpp>

#include <cstdio>
#include <new>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/performance/recording.hpp>
#include <tessera/status.hpp>

namespace tessera {

ExecutionQueue::ExecutionQueue(Backend backend) : ExecutionQueue(tessera::executor(backend)) {}

ExecutionQueue::ExecutionQueue(Executor& executor) : executor_(executor) {
  throw_if_failed(executor_.create_queue(queue_));
}

ExecutionQueue::~ExecutionQueue() {
  const Status status = queue_->synchronize();
  for (const auto& mark : marks_) mark->reached = true;
  if (status.ok() || reported_) return;
  try {
    log_line("a queue of " + executor_.capabilities().device +
             " ended with a failure that finish() did not report: " + status.why);
  } catch (const std::bad_alloc&) {
    std::fputs("tessera: a queue ended with a failure that finish() did not report\n", stderr);
  }
}

void ExecutionQueue::finish() {
  const Status status = queue_->synchronize();
  reported_ = !status.ok();
  throw_if_failed(status);
  for (const auto& mark : marks_) mark->reached = true;
}

void ExecutionQueue::wait_for(ExecutionQueue& other) try {
  throw_if_failed(queue_->wait(*other.mark()->event));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

std::shared_ptr<detail::QueueMark> ExecutionQueue::mark() {
  std::shared_ptr<detail::QueueMark> free;
  for (const auto& known : marks_)
    if (known.use_count() == 1) {
      free = known;
      break;
    }
  if (free == nullptr) {
    marks_.reserve(marks_.size() + 1);
    free = std::make_shared<detail::QueueMark>();
    throw_if_failed(executor_.create_event(free->event));
    marks_.push_back(free);
  }
  free->reached = false;
  throw_if_failed(free->event->record(*queue_));
  return free;
}

void ExecutionQueue::start_after_default_queue() {
  // What is recorded does not run now, and a wait for it would draw this queue into the recording.
  if (is_being_recorded(executor_.default_queue()))
    throw InvalidArgument("an ExecutionQueue cannot be given work while the default queue of " +
                          executor_.capabilities().device +
                          " is being recorded; give it the work before or after record()");
  if (default_queue_ == nullptr) throw_if_failed(executor_.create_event(default_queue_));
  throw_if_failed(default_queue_->record(executor_.default_queue()));
  throw_if_failed(queue_->wait(*default_queue_));
}

} // namespace tessera
