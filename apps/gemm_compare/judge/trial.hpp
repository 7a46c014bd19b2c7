#pragma once

/// A trial: one kernel in one child process, which opens it once and calls it several times. Whatever the kernel does,
/// the trial returns a reply or an ending.

#include <optional>
#include <string>

#include "channel.hpp"
#include "child_process.hpp"
#include "judge.hpp"
#include "reply_check.hpp"
#include "shared_memory.hpp"

namespace tessera::judge {

/// Why a trial ended early.
struct Ending {
  Outcome outcome = Outcome::Judged;
  Offence offence = Offence::None;
  std::string why;
};

class Trial {
 public:
  /// Starts the child, which opens the library. If that fails, ending() says why. Throws IoError if the child cannot be
  /// started.
  Trial(const JudgeRequest& request, SharedMemory& memory);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Returns why the trial ended; empty while the child waits for a call.
  const std::optional<Ending>& ending() const noexcept { return ending_; }
  /// Runs the kernel once. Returns nothing if the kernel did not return normally; ending() then says why.
  std::optional<Reply> call(int number, std::uint64_t placement);
  /// Watches C of the last call until it changes, at most for request.watch_seconds. The reply has Finding::Late if C
  /// changed, else Finding::Nothing. Returns no reply if the process ended meanwhile; ending() then says why.
  std::optional<Reply> watch(int number);
  const std::string& output() const noexcept { return child_->output(); }

 private:
  std::optional<Reply> ask(const Command& command, double time_limit, const std::string& where);
  /// Receives the child's next reply. Returns nothing if there is none within `time_limit` seconds or the child ended.
  std::optional<Reply> receive(double time_limit, const std::string& where);
  void end(Offence offence, std::string why, Outcome outcome = Outcome::Judged);
  void refuse(const Reply& reply);
  void explain_death(int status, std::string where);

  const JudgeRequest& request_;
  SharedMemory& memory_;
  const Problem problem_; ///< a copy, because the kernel can write to the shared one
  int channel_ = -1;
  std::optional<ChildProcess> child_;
  std::optional<Ending> ending_;
};

} // namespace tessera::judge
