#pragma once

/// A program that is not trusted to end, to be quiet or to stay alive: in a session of its own, its standard input
/// empty, its output kept up to a limit, and killed with everything in its process group.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "left_behind.hpp"

namespace tessera::judge {

using Clock = std::chrono::steady_clock;

class ChildProcess {
 public:
  /// `inherited`: descriptors of ours and the number that each has in the child; all others are closed there.
  /// Throws IoError if the program cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const std::vector<std::pair<int, int>>& inherited);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  enum class Event { Readable, Ended, TimeLimit, Flood };
  /// Waits until `descriptor` (−1: none) is readable, the child has ended, time is up, or it has written more than
  /// `flood_bytes` to its standard output and error.
  Event wait(int descriptor, Clock::time_point deadline);

  /// Kills the group if it still runs, and returns what the child ended with, as waitpid() gives it. A child that
  /// is about to end by itself has `grace` to do so.
  int end(std::chrono::milliseconds grace);

  /// The beginning of what the child wrote.
  const std::string& output() const noexcept { return output_; }

 private:
  bool read_output();
  bool has_ended() const;

  int pid_ = -1;
  int pid_fd_ = -1; ///< readable when the child has ended; −1 on kernels before 5.3, where only the pipes tell
  int output_fd_ = -1;
  std::optional<GroupToKill> group_;
  bool reaped_ = false;
  int status_ = 0;
  std::string output_;
  std::size_t output_bytes_ = 0;
};

inline constexpr std::size_t flood_bytes = std::size_t{16} << 20;
inline constexpr std::size_t kept_output_bytes = 8192;

/// "SIGSEGV (Segmentation fault)".
std::string signal_name(int signal);

} // namespace tessera::judge
