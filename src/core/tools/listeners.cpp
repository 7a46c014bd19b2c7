#include "listeners.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <tessera/backend/fork.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

namespace tessera::tools {
namespace {

/// A registered tool. It is freed once it has ended and no thread holds a list that may have it.
struct Listener {
  Tool tool;
  ToolId id = 0;
  bool ended = false; ///< It is unregistered, and nothing will call it.
  std::atomic<bool> live = true;
  std::atomic<int> callbacks = 0; ///< Callbacks that threads are in now.
};

} // namespace

struct Listeners {
  std::vector<Listener*> all;
};

constinit std::atomic<const Listeners*> current_listeners = nullptr;

namespace {

std::atomic<std::uint64_t> last_operation = 0;

/// Observations that hold a list, or are about to take one. A thread counts itself before it reads current_listeners,
/// and a list is freed only after another one took its place and this number was 0 then; so no thread reads it.
std::atomic<int> observations = 0;
/// Observations of this thread that hold a list.
constinit thread_local int observations_here = 0;

void begin_observation() noexcept {
  ++observations_here;
  observations.fetch_add(1);
}
void end_observation() noexcept {
  observations.fetch_sub(1);
  --observations_here;
}

/// The listener whose callback this thread is in. What a callback does in the library is not reported.
constinit thread_local Listener* calling = nullptr;
/// The operation that this thread is in.
constinit thread_local std::uint64_t operation_here = 0;

class Registry final : private ForkObserver {
 public:
  ToolId add(const Tool& tool) {
    const std::lock_guard lock(mutex_);
    for (const auto& one : listeners_)
      if (one->live && one->tool.begin == tool.begin && one->tool.end == tool.end && one->tool.data == tool.data)
        throw InvalidArgument("tool '" + std::string(tool.name) + "' is registered already, as number " +
                              std::to_string(one->id) + " with the name '" + one->tool.name +
                              "'; unregister that one first, or give this one data of its own");
    auto made = std::make_unique<Listener>();
    made->tool = tool;
    made->id = last_id_ + 1;
    std::vector<Listener*> all = live_ones();
    all.push_back(made.get());
    listeners_.reserve(listeners_.size() + 1);
    auto list = make_list(std::move(all));
    last_id_ = made->id;
    finish_at_exit(*made);
    listeners_.push_back(std::move(made));
    current_listeners.store(list);
    free_what_is_unused();
    return last_id_;
  }

  void remove(ToolId id) {
    Listener* gone = nullptr;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& one : listeners_)
        if (one->id == id && one->live) gone = one.get();
      if (gone == nullptr)
        throw InvalidArgument("there is no tool of number " + std::to_string(id) +
                              "; it was never registered or is "
                              "unregistered already; " +
                              std::to_string(live_ones().size()) + " tools are registered");
      std::vector<Listener*> rest = live_ones();
      std::erase(rest, gone);
      const Listeners* list = rest.empty() ? nullptr : make_list(std::move(rest));
      current_listeners.store(list);
      gone->live = false;
    }
    end(*gone);
    finish_no_more_at_exit(*gone);
    const std::lock_guard lock(mutex_);
    gone->ended = true;
    free_what_is_unused();
  }

  /// Removes all tools at the end of the program.
  void remove_all() noexcept {
    while (Listener* const gone = take_live_one()) end(*gone);
  }

  /// Lets all tools finish when the program ends, before what exists now is destroyed, because the tool's data may be
  /// among it.
  static void finish_at_exit(const Listener& tool) noexcept;
  static void finish_no_more_at_exit(const Listener& tool) noexcept;
  static void finish_at_exit() noexcept;

 private:
  std::vector<Listener*> live_ones() const {
    std::vector<Listener*> all;
    for (const auto& one : listeners_)
      if (one->live) all.push_back(one.get());
    return all;
  }
  /// Returns a tool that is no longer live; null if there is none.
  Listener* take_live_one() noexcept {
    const std::lock_guard lock(mutex_);
    current_listeners.store(nullptr);
    for (const auto& one : listeners_)
      if (one->live.exchange(false)) return one.get();
    return nullptr;
  }
  /// Frees lists that are not the current one, and tools that have ended, unless a thread may be reading them.
  void free_what_is_unused() noexcept {
    if (observations.load() > 0) return;
    const Listeners* const current = current_listeners.load();
    std::erase_if(lists_, [&](const auto& list) { return list.get() != current; });
    std::erase_if(listeners_, [](const auto& one) { return one->ended; });
  }
  const Listeners* make_list(std::vector<Listener*> all) {
    lists_.push_back(std::make_unique<Listeners>(Listeners{std::move(all)}));
    return lists_.back().get();
  }

  /// Waits for the callbacks of a tool that is no longer in the list, and lets it finish.
  static void end(Listener& gone) noexcept {
    while (calling == nullptr && gone.callbacks.load() > 0) std::this_thread::yield();
    if (gone.tool.finish == nullptr) return;
    Listener* const before = std::exchange(calling, &gone);
    gone.tool.finish(gone.tool.data);
    calling = before;
  }

  void before_fork() noexcept override { mutex_.lock(); }
  void after_fork_in_parent() noexcept override { mutex_.unlock(); }
  void after_fork_in_child() noexcept override {
    for (const auto& one : listeners_) one->callbacks = calling == one.get() ? 1 : 0; // the other threads are gone
    observations = observations_here;
    mutex_.unlock();
  }

  std::mutex mutex_;
  ToolId last_id_ = 0;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::unique_ptr<const Listeners>> lists_;
};

/// Is never destroyed, because operations of static objects may come later.
Registry& registry() {
  static auto* const one = new Registry;
  return *one;
}

void Registry::finish_at_exit() noexcept {
  static_cast<void>(std::atexit([] { registry().remove_all(); }));
}

/// This thread is taking a call at exit back, which the C library does by making it.
constinit thread_local bool taking_back = false;

/// The call has the tool as its owner, in place of a library, so that it can be taken back with the tool.
void Registry::finish_at_exit(const Listener& tool) noexcept {
  const auto finish = [](void*) {
    if (!taking_back) registry().remove_all();
  };
  static_cast<void>(abi::__cxa_atexit(finish, nullptr, const_cast<Listener*>(&tool)));
}

void Registry::finish_no_more_at_exit(const Listener& tool) noexcept {
  taking_back = true;
  abi::__cxa_finalize(const_cast<Listener*>(&tool));
  taking_back = false;
}

/// Calls one callback of each tool of the list that wants to see operations of this kind.
template <class Call>
void tell(const Listeners& list, Kind kind, Call&& call) noexcept {
  const detail::ContractArithmetic own_state; // a callback's flags are not the caller's
  for (Listener* const one : list.all) {
    if ((one->tool.kinds & bit_of(kind)) == 0) continue;
    one->callbacks.fetch_add(1);
    if (one->live.load()) {
      calling = one;
      call(one->tool);
      calling = nullptr;
    }
    one->callbacks.fetch_sub(1);
  }
}

} // namespace

Tool checked(const Tool& tool) {
  constexpr std::size_t least = offsetof(Tool, data) + sizeof(void*); // the first version's size
  if (tool.struct_size < least || tool.struct_size > sizeof(Tool))
    throw InvalidArgument("a tool's structure has " + std::to_string(tool.struct_size) +
                          " bytes, this libtessera knows structures of " + std::to_string(least) + " … " +
                          std::to_string(sizeof(Tool)) + "; rebuild the tool against this version");
  Tool whole;
  std::memcpy(&whole, &tool, tool.struct_size);
  whole.struct_size = sizeof(Tool);
  if (whole.name == nullptr) throw InvalidArgument("a tool has no name; set Tool::name");
  const auto lacks = [&](const char* what) {
    return InvalidArgument("tool '" + std::string(whole.name) + "' " + what);
  };
  if (whole.begin == nullptr && whole.end == nullptr)
    throw lacks("has neither a begin nor an end; set one of the callbacks");
  if (whole.kinds == 0) throw lacks("listens to no kind of operation: its kinds are 0; set some of their bits");
  return whole;
}

ToolId register_tool(const Tool& tool) try {
  return registry().add(checked(tool));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void unregister_tool(ToolId id) try { registry().remove(id); } catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void finish_before_what_is_loaded_now() noexcept {
  if (anyone_listens()) registry().finish_at_exit();
}

Observation::Observation(const Operation& operation) noexcept : operation_(operation) {
  if (calling != nullptr) return;
  begin_observation();
  told_ = current_listeners.load();
  if (told_ == nullptr) { // the last tool has just gone
    end_observation();
    return;
  }
  operation_.id = last_operation.fetch_add(1, std::memory_order_relaxed) + 1;
  operation_.parent = std::exchange(operation_here, operation_.id);
  tell(*told_, operation_.kind, [&](const Tool& tool) {
    if (tool.begin != nullptr) tool.begin(operation_, tool.data);
  });
}

void Observation::end(StatusCode outcome) noexcept {
  if (told_ == nullptr) return;
  const Listeners& list = *std::exchange(told_, nullptr);
  operation_here = operation_.parent;
  tell(list, operation_.kind, [&](const Tool& tool) {
    if (tool.end != nullptr) tool.end(operation_, outcome, tool.data);
  });
  end_observation();
}

Observation::~Observation() { end(StatusCode::OutOfMemory); }

} // namespace tessera::tools
