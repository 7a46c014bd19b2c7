#pragma once

/// One kernel in one child process: opened once, called several times, and whatever it does becomes an answer.

#include <optional>
#include <string>

#include "channel.hpp"
#include "child_process.hpp"
#include "judge.hpp"
#include "shared_memory.hpp"

namespace tessera::judge {

/// What ended a trial before its time.
struct Ending {
  Outcome outcome = Outcome::Judged;
  Offence offence = Offence::None;
  std::string why;
};

class Trial {
 public:
  /// Starts the child and has it open the library; see ending(). Throws IoError.
  Trial(const JudgeRequest& request, SharedMemory& memory);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Nothing: the child waits for a call.
  const std::optional<Ending>& ending() const noexcept { return ending_; }
  /// Runs the kernel once. Nothing: it did not come back; see ending().
  std::optional<Reply> call(int number, std::uint64_t placement);
  /// Looks at the last call's C until it changes, at most for request.watch_seconds: Finding::Late, or Nothing.
  /// Nothing at all: the process ended meanwhile; see ending().
  std::optional<Reply> watch(int number);
  const std::string& output() const noexcept { return child_->output(); }

 private:
  std::optional<Reply> ask(const Command& command, double time_limit, const std::string& where);
  /// The child's next reply, within the time limit in seconds.
  std::optional<Reply> receive(double time_limit, const std::string& where);
  void end(Offence offence, std::string why, Outcome outcome = Outcome::Judged);
  void refuse(const Reply& reply);
  void explain_death(int status, std::string where);

  const JudgeRequest& request_;
  SharedMemory& memory_;
  int channel_ = -1;
  std::optional<ChildProcess> child_;
  std::optional<Ending> ending_;
};

} // namespace tessera::judge
