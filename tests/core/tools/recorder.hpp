#pragma once

/// A tool that keeps what it is told.

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include <tessera/tools.hpp>

namespace tessera::test {

struct Told {
  bool is_end = false;
  tools::Operation operation; ///< without its texts, which are beside it
  std::string name, backend, device;
  StatusCode outcome = StatusCode::Ok;
};

/// Listens as long as it lives.
class Recorder {
 public:
  explicit Recorder(std::uint32_t kinds = tools::every_kind) {
    tools::Tool tool;
    tool.name = "recorder";
    tool.kinds = kinds;
    tool.begin = [](const tools::Operation& operation, void* data) noexcept {
      static_cast<Recorder*>(data)->keep({false, operation, operation.name, operation.backend, operation.device, {}});
    };
    tool.end = [](const tools::Operation& operation, StatusCode outcome, void* data) noexcept {
      static_cast<Recorder*>(data)->keep(
          {true, operation, operation.name, operation.backend, operation.device, outcome});
    };
    tool.finish = [](void* data) noexcept { ++static_cast<Recorder*>(data)->finished; };
    tool.data = this;
    id = tools::register_tool(tool);
  }
  ~Recorder() {
    if (id != 0) tools::unregister_tool(id);
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void stop() { tools::unregister_tool(std::exchange(id, 0)); }

  /// Returns what was told of operations of this kind.
  std::vector<Told> of(tools::Kind kind) {
    const std::lock_guard lock(mutex_);
    std::vector<Told> some;
    std::copy_if(told.begin(), told.end(), std::back_inserter(some),
                 [&](const Told& one) { return one.operation.kind == kind; });
    return some;
  }

  tools::ToolId id = 0;
  int finished = 0;
  std::vector<Told> told;

 private:
  void keep(Told one) {
    const std::lock_guard lock(mutex_);
    told.push_back(std::move(one));
  }
  std::mutex mutex_;
};

} // namespace tessera::test
