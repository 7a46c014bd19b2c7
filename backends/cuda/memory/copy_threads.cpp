#include "copy_threads.hpp"

#include <algorithm>
#include <system_error>

namespace tessera::cuda {

Crew::Crew(int size) {
  try {
    threads_.reserve(static_cast<std::size_t>(size));
    for (int member = 1; member < size; ++member) threads_.emplace_back([this, member] { serve(member); });
  } catch (const std::system_error&) { // the members there are do the work
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Crew::run(int members, const std::function<void(int)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    members_ = std::min(members, size());
    busy_ = members_ - 1;
    ++round_;
  }
  start_.notify_all();
  work(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void Crew::serve(int member) {
  unsigned long long seen = 0;
  for (;;) {
    const std::function<void(int)>* work = nullptr;
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
      if (member >= members_) continue;
      work = work_;
    }
    (*work)(member);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

} // namespace tessera::cuda
