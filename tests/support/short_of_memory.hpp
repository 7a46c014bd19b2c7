#pragma once

/// Two calls in two threads that use one matrix on the small device (small_device.hpp): the product of the one lacks
/// memory while the other is about to use the matrix there.

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm.hpp>
#include <tessera/tools.hpp>

namespace tessera::test {

/// The points at which two threads wait for each other.
class Meeting {
 public:
  enum Point { Apart, Brought, InUse, Over };

  void reach(Point point) {
    const std::lock_guard lock(mutex_);
    if (point_ < point) point_ = point;
    changed_.notify_all();
  }
  void wait_for(Point point) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return point_ >= point; });
  }
  /// The first thread that comes here when the matrix is on the device waits until the other thread's call is over.
  void interrupt() {
    wait_for(Brought);
    if (is_interrupted_.exchange(true)) return;
    reach(InUse);
    wait_for(Over);
  }
  bool is_interrupted() const { return is_interrupted_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  Point point_ = Apart;
  std::atomic<bool> is_interrupted_ = false;
};

/// Calls use(meeting), and interrupts it by meeting.interrupt(), or where it begins its nth operation of this kind.
/// Before, another thread's product has brought `shared` to the device; meanwhile this product finds no memory for its
/// other operand, so that it lets `shared` leave. Then it goes through the device in parts, or throws OutOfMemory.
/// `shared` must not be on the device before.
template <class Use>
void while_another_lacks_memory(const Matrix<float>& shared, tools::Kind kind, const Use& use, int nth = 1) {
  BOOST_REQUIRE(shared.operand().storage->resident_on() == nullptr);
  const Matrix<float> large = Matrix<float>::random(shared.cols(), 4000, Seed{99});
  struct Listening {
    Meeting meeting;
    std::thread::id other;
    tools::Kind kind{};
    std::atomic<int> left = 0; ///< operations of the kind before the interruption
    int allocations = 0;       ///< of the other thread
  } listening;
  listening.kind = kind;
  listening.left = nth;
  Meeting& meeting = listening.meeting;
  tools::Tool tool;
  tool.name = "interruption";
  tool.data = &listening;
  tool.begin = [](const tools::Operation& operation, void* data) noexcept {
    auto& x = *static_cast<Listening*>(data);
    if (std::this_thread::get_id() != x.other) {
      if (operation.kind == x.kind && --x.left == 0) x.meeting.interrupt();
    } else if (operation.kind == tools::Kind::Allocate && ++x.allocations == 2) {
      x.meeting.reach(Meeting::Brought);
      x.meeting.wait_for(Meeting::InUse);
    }
  };
  const Matrix<float> expected = gemm(shared, large, Backend::Reference);
  tools::ToolId id = 0;
  std::atomic<int> wrong = 0;
  std::thread other([&] {
    listening.other = std::this_thread::get_id();
    id = tools::register_tool(tool);
    try {
      wrong = gemm(shared, large, Backend::Cuda) == expected ? 0 : 1;
    } catch (const OutOfMemory&) { // which is an answer
    }
    meeting.reach(Meeting::Over);
  });
  meeting.wait_for(Meeting::Brought);
  try {
    use(meeting);
  } catch (...) {
    meeting.reach(Meeting::InUse);
    other.join();
    tools::unregister_tool(id);
    throw;
  }
  meeting.reach(Meeting::InUse);
  other.join();
  tools::unregister_tool(id);
  BOOST_TEST(meeting.is_interrupted());
  BOOST_TEST(wrong == 0);
}

} // namespace tessera::test
