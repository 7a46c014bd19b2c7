#pragma once

/// The tools that listen, and how an operation tells them of its begin and end. An entry of an executor reads
///
///     if (!tools::anyone_listens()) [[likely]] return run_map(queue, call);
///     return tools::observe([&] { return tools::describe(*this, queue, call); }, [&] { return run_map(queue, call);
///     });

#include <atomic>

#include <tessera/status.hpp>
#include <tessera/tools.hpp>

namespace tessera::tools {

struct Listeners;

/// The tools that are registered; null if there is none. Lists are never changed, and freed when no operation reads
/// them.
extern std::atomic<const Listeners*> current_listeners;

/// Does any tool listen? This is all that an operation pays where none does.
inline bool anyone_listens() noexcept { return current_listeners.load(std::memory_order_relaxed) != nullptr; }

/// Calls the tools' begin at its construction, and their end at end() or, after an exception, in the destructor.
class Observation {
 public:
  explicit Observation(const Operation& operation) noexcept;
  ~Observation();
  Observation(const Observation&) = delete;
  Observation& operator=(const Observation&) = delete;

  void end(StatusCode outcome) noexcept;
  /// Tells the tools at the end where the memory is that was allocated.
  void allocated(const void* memory) noexcept { operation_.memory = memory; }

 private:
  Operation operation_;
  const Listeners* told_ = nullptr; ///< Only tools that were told of the begin are told of the end.
};

/// Does the work and tells the tools of it; `describe` returns the Operation. It is a function of its own, and cold, so
/// that a caller without a tool has no frame for it.
template <class Describe, class Work>
[[gnu::noinline, gnu::cold]] Status observe(const Describe& describe, const Work& work) {
  Observation observation(describe());
  Status status = work();
  observation.end(status.code);
  return status;
}

/// Returns the tool with all members of this version, where members that it lacks have their defaults. Throws what
/// register_tool() throws for a wrong tool.
Tool checked(const Tool& tool);

/// Lets the tools finish before the libraries end that are loaded now. It is called after an executor was made, because
/// a device's runtime, which tools may ask for times, ends in the reverse order of its first use.
void finish_before_what_is_loaded_now() noexcept;

} // namespace tessera::tools
