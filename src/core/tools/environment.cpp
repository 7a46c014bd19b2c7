#include "environment.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/fork.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>
#include <tessera/status.hpp>
#include <tessera/tools.hpp>

#include "built_in.hpp"
#include "core/base/reentry.hpp"
#include "core/base/unknown_word.hpp"
#include "listeners.hpp"

namespace tessera::tools {
namespace {

/// Takes the first part off a list; parts are separated by `separator`.
std::string_view take_part(std::string_view& list, char separator) {
  const std::string_view part = list.substr(0, list.find(separator));
  list.remove_prefix(std::min(list.size(), part.size() + 1));
  return part;
}

Tool built_in(std::string_view word) {
  if (word == "summary") return summary_tool();
  if (word == "nvtx") return nvtx_tool();
  throw InvalidArgument("TESSERA_PROFILE: " + unknown_word("profile", word, {"summary", "nvtx"}));
}

std::string dl_error() {
  const char* error = dlerror();
  return error != nullptr ? error : "unknown error";
}

/// Opens the library of a tool. It is never closed, because threads may be in its code.
Tool open(const std::string& path) {
  if (!path.starts_with('/'))
    throw InvalidArgument("TESSERA_TOOLS: '" + path +
                          "' is not an absolute path; write the whole path, because the current directory and the "
                          "loader's folders are not searched");
  const detail::ContractArithmetic contract; // a library made with -ffast-math changes the state as it is loaded
  const detail::KeptProcessors kept;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw IoError("TESSERA_TOOLS: cannot load " + path + ": " + dl_error());
  const auto entry = reinterpret_cast<ToolEntry>(dlsym(library, tool_entry_name));
  if (entry == nullptr)
    throw InvalidArgument("TESSERA_TOOLS: " + path + " is not a tool: it does not export " + tool_entry_name);
  const Tool* const tool = entry();
  if (tool == nullptr) throw InvalidArgument("TESSERA_TOOLS: " + path + ": its " + tool_entry_name + " returned null");
  try {
    return checked(*tool);
  } catch (const InvalidArgument& why) {
    throw InvalidArgument("TESSERA_TOOLS: cannot use " + path + ": " + why.what());
  }
}

class Start {
 public:
  void once() {
    // What a tool's library does as it is loaded is reported to no tool.
    if (started_.load(std::memory_order_acquire) || Reentry::is_within(this)) return;
    const Reentry here(this);
    const std::vector<Wanted> wanted = find_wanted(); // without the lock, as plug-ins are loaded
    const std::lock_guard lock(mutex_);
    if (started_) return;
    try {
      start(wanted);
    } catch (...) {
      for (const ToolId id : begun_) unregister_tool(id);
      begun_.clear();
      throw;
    }
    started_.store(true, std::memory_order_release);
  }

 private:
  /// A tool and the variable, or the library, that asked for it.
  struct Wanted {
    Tool tool;
    std::string asked_by;
  };

  /// Makes all tools before the first one is registered, so that a wrong word lets none begin. Several threads may do
  /// this at once.
  static std::vector<Wanted> find_wanted() {
    const char* const profile = trusted_variable("TESSERA_PROFILE");
    const char* const libraries = trusted_variable("TESSERA_TOOLS");
    std::vector<Wanted> wanted;
    for (std::string_view words = profile != nullptr ? profile : ""; !words.empty();)
      wanted.push_back({built_in(take_part(words, ',')), "TESSERA_PROFILE"});
    for (std::string_view paths = libraries != nullptr ? libraries : ""; !paths.empty();) {
      const std::string path(take_part(paths, ':'));
      wanted.push_back({open(path), "TESSERA_TOOLS: cannot use " + path});
    }
    return wanted;
  }

  void start(const std::vector<Wanted>& wanted) {
    begun_.reserve(wanted.size());
    for (const Wanted& one : wanted) try {
        begun_.push_back(register_tool(one.tool));
      } catch (const InvalidArgument& why) {
        throw InvalidArgument(one.asked_by + ": " + why.what());
      }
  }

  std::mutex mutex_;
  std::atomic<bool> started_ = false;
  std::vector<ToolId> begun_;
};

} // namespace

void start_from_environment() {
  const WholeAcrossFork action;                          // comes first, so that a child never finds half of a Start
  alignas(Start) static std::byte memory[sizeof(Start)]; // never destroyed: static objects may use an executor at exit
  static auto* const start = new (memory) Start;
  start->once();
}

} // namespace tessera::tools
