#include "copy_threads.hpp"

#include <algorithm>
#include <system_error>

#include <tessera/detail/processors.hpp>

namespace tessera::cuda {

CopyThreads::CopyThreads(int size) {
  try {
    threads_.reserve(static_cast<std::size_t>(size));
    for (int index = 1; index < size; ++index) threads_.emplace_back([this, index] { serve(index); });
  } catch (const std::system_error&) { // The threads that were started do the work.
  }
}

CopyThreads::~CopyThreads() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void CopyThreads::run(int wanted, const std::function<void(int)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    wanted_ = std::min(wanted, size());
    busy_ = wanted_ - 1;
    ++round_;
  }
  start_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void CopyThreads::serve(int index) {
  detail::leave_inherited_place();
  unsigned long long seen = 0;
  for (;;) {
    const std::function<void(int)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      if (index >= wanted_) continue;
      work = work_;
    }
    (*work)(index);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

} // namespace tessera::cuda
