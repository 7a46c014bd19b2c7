#pragma once

/// A program that may hang, crash or print without end. It runs in its own session with an empty standard input; its
/// output is kept up to a limit, and it is killed together with its process group.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "left_behind.hpp"

namespace tessera::judge {

class ProcessTree;

using Clock = std::chrono::steady_clock;

class ChildProcess {
 public:
  /// Starts the program arguments[0] with these arguments. `inherited`: pairs of a descriptor of this process and its
  /// number in the child; the child has no others beside standard input, output and error. Throws IoError if the
  /// program cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const std::vector<std::pair<int, int>>& inherited);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Event { Readable, Ended, TimeLimit, Flood, Objection };
  /// A look at the child from time to time.
  struct Look {
    std::chrono::milliseconds every{20};
    std::function<bool()> is_well; ///< false ends the waiting with Event::Objection
  };
  /// Waits until `descriptor` (−1: none) is readable, the child has ended, the deadline has passed, or the child has
  /// written more than `flood_bytes` to its standard output and error. `look`: null, or what to do meanwhile.
  Event wait(int descriptor, Clock::time_point deadline, const Look* look = nullptr);

  /// Kills the process group and returns the child's status as waitpid() gives it. The child first has the time
  /// `patience` to end by itself. If `tree` is not null, its processes are killed first: every process that the child
  /// started, also outside of its group.
  int end(std::chrono::milliseconds patience, const ProcessTree* tree = nullptr);

  int pid() const noexcept { return pid_; }

  /// Returns the first `kept_output_bytes` that the child wrote.
  const std::string& output() const noexcept { return output_; }

 private:
  bool read_output();
  bool has_ended() const;

  int pid_ = -1;
  int pid_fd_ = -1; ///< readable when the child has ended; −1 on Linux before 5.3
  int output_fd_ = -1;
  std::optional<GroupToKill> group_;
  bool reaped_ = false;
  int status_ = 0;
  std::string output_;
  std::size_t output_bytes_ = 0;
};

inline constexpr std::size_t flood_bytes = std::size_t{16} << 20;
inline constexpr std::size_t kept_output_bytes = 8192;

/// Returns the name of a signal, as "SIGSEGV (Segmentation fault)".
std::string signal_name(int signal);

} // namespace tessera::judge
