#pragma once

/// A trial: one kernel in one child process, which opens it once and calls it several times. Whatever the kernel does,
/// the trial returns a reply or an ending.

#include <array>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "channel.hpp"
#include "judge.hpp"
#include "processes/child_process.hpp"
#include "processes/given_processors.hpp"
#include "processes/left_behind.hpp"
#include "processes/process_tree.hpp"
#include "processes/remote_memory.hpp"
#include "processes/shared_memory.hpp"
#include "reply_check.hpp"

namespace tessera::judge {

/// How long a child may take to end by itself.
inline constexpr std::chrono::milliseconds grace{500};

/// Why a trial ended early.
struct Ending {
  Outcome outcome = Outcome::Judged;
  Offence offence = Offence::None;
  std::string why;
};

/// While one lives, no other process may read or change the memory of this one (PR_SET_DUMPABLE).
class ClosedMemory {
 public:
  ClosedMemory();
  ~ClosedMemory();
  ClosedMemory(const ClosedMemory&) = delete;
  ClosedMemory& operator=(const ClosedMemory&) = delete;

 private:
  int before_;
};

class Trial {
 public:
  /// Starts the child, which opens the library. If that fails, ending() says why. `memory`: private memory, laid out as
  /// `problem` says, in which the operands are placed before each call and C is found after it. Throws IoError if the
  /// child cannot be started.
  Trial(const JudgeRequest& request, const Problem& problem, std::byte* memory);
  ~Trial();
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  /// Returns the room for both sets of operands of a child, in bytes.
  static std::uint64_t arena_bytes(const Problem& problem);

  /// Returns why the trial ended; empty while the child waits for a call.
  const std::optional<Ending>& ending() const noexcept { return ending_; }
  /// Runs the kernel once. The reply's time is what counts: the child's, or more if the parent's clock says so. Its
  /// finding is the first that was found around the operands. Returns nothing if the kernel did not return normally;
  /// ending() then says why.
  std::optional<Reply> call(int number);
  /// Watches C of the last call until it changes or nothing in the child can change it any more, at most for
  /// request.watch_seconds. The reply has Finding::Late if C changed, else Finding::Nothing. Returns no reply if the
  /// process ended meanwhile; ending() then says why.
  std::optional<Reply> watch(int number);

  const std::string& output() const noexcept { return child_->output(); }
  /// Did the child get as far as saying what holds it?
  bool is_prepared() const noexcept { return arena_ != 0; }
  /// Returns the processor time of all threads and processes in the last call, in seconds.
  double processor_seconds() const noexcept { return processor_seconds_; }
  /// Returns the processor time of all threads and processes so far, in seconds.
  double all_processor_seconds() const { return tree_ ? tree_->processor_seconds() : 0; }
  /// Returns how long in the last call some thread of the kernel could have run and had no processor, in seconds.
  /// Without a control group it is the first thread's time alone, and knows_all_waiting() says no.
  double waited_seconds() const noexcept { return waited_seconds_; }
  /// May the kernel use as many processors as it was given threads, and no more, however short a call is?
  bool is_bound() const noexcept { return is_bound_; }
  /// Returns the time from the last call's command until all processes stood still, in seconds: the processor time and
  /// the waiting are of this time.
  double window_seconds() const noexcept { return window_seconds_; }
  /// Returns for how long after the last call's reply this process could have run and had no processor, in seconds, as
  /// far as the reply's time shows it.
  double judge_late_seconds() const noexcept { return judge_late_seconds_; }
  bool knows_all_waiting() const { return tree_ && tree_->stalled_seconds().has_value(); }
  /// Returns which Layer bits of the sandbox are in force.
  std::uint32_t layers() const noexcept { return layers_; }
  /// Returns what a call of nothing takes by the parent's clock, in seconds; three of four such calls take longer.
  double round_trip() const noexcept { return round_trip_; }

 private:
  /// One set of operands in the child.
  struct Slot {
    RemoteOperand a, b, c;
    std::vector<std::byte> result;   ///< C when the kernel had returned
    std::vector<std::byte> a_before; ///< the inputs, where they are small
    std::vector<std::byte> b_before;
    bool used = false;
  };

  void start();
  void open_library();
  /// Measures round trips, and finds the place at which the child waits for commands.
  bool calibrate();
  bool place(int number);
  /// Gives the kernel processors of its own, if it was given fewer than there are, and others if it had to wait for
  /// these in the last call. Its processes stand still.
  void give_processors();
  /// Looks at the memory around the operands, and keeps C. Every process of the kernel stands still.
  bool keep_result(Slot& slot, Reply& reply);
  /// Ends the trial of a kernel that took more processor time than its threads could have. `given`: what they had in
  /// this call, in seconds.
  void check_threads(double processor, double given, int number);
  /// Refuses or raises the time in the reply. `passed`: seconds by this process's clock; `ran`: of them,
  /// the worker's first thread was on a processor.
  void check_time(Reply& reply, double passed, double ran, const std::string& where);
  /// Stops all processes, and lets them go on for a moment while the worker is still in the kernel, because the kernel
  /// itself has replied. Returns when the kernel had returned; empty: the trial has ended.
  std::optional<Clock::time_point> stop_after_return(const std::string& where);
  /// Ends the trial of a kernel that has replied itself.
  void end_unreturned(const std::string& where);
  /// Waits until nothing in the child can change memory, at most `seconds`. Returns whether that is so.
  bool settle(double seconds);
  /// Did the worker return to its loop?
  bool is_back();
  bool look_at(const Slot& slot, Reply& reply) const;

  std::optional<Reply> ask(const Command& command, double time_limit, const std::string& where);
  bool send_command(const Command& command);
  std::optional<Reply> answer(const Command& command, double time_limit, const std::string& where);
  /// Receives the child's next reply. Returns nothing if there is none within `time_limit` seconds or the child ended.
  std::optional<Reply> receive(double time_limit, const std::string& where);
  bool stop(const std::string& where);
  bool is_well();
  /// Do the kernel's processes keep the limits of their number, of their memory and of their files? If not, objection_
  /// says so, and object() ends the trial with it.
  bool keeps_limits();
  bool is_crowded(const std::vector<pid_t>& processes);
  void object(const std::string& where);
  void end(Offence offence, std::string why, Outcome outcome = Outcome::Judged);
  void refuse(const Reply& reply);
  void explain_death(int status, std::string where);
  bool on_processor() const;

  const JudgeRequest& request_;
  const Problem problem_;
  std::byte* const memory_;
  const ClosedMemory closed_;
  SharedPage page_;
  std::optional<TemporaryFolder> scratch_;
  int channel_ = -1;
  std::optional<ChildProcess> child_;
  std::optional<ProcessTree> tree_;
  std::optional<GivenProcessors> processors_;     ///< none for a kernel of another device
  bool is_bound_ = false, was_disturbed_ = false; ///< by other programs, in the last call
  pid_t sender_ = 0;                              ///< the process that sent the last reply
  std::uint64_t arena_ = 0;
  std::uint32_t layers_ = 0;
  double round_trip_ = 0, processor_seconds_ = 0, waited_seconds_ = 0, judge_late_seconds_ = 0, window_seconds_ = 0;
  double all_processor_ = 0, all_given_ = 0; ///< seconds of processor time in all calls, and what the threads had
  std::optional<WaitingPlace> idle_;
  std::array<Slot, 2> slots_;
  std::mt19937_64 random_;
  int threads_seen_ = 0, times_looked_ = 0, times_over_ = 0;
  struct Objection {
    Offence offence = Offence::None;
    std::string text;
    std::size_t limit = 0; ///< in bytes, of memory or files; 0: of something else
  };
  Objection objection_;       ///< of keeps_limits()
  Clock::time_point replied_; ///< when the last reply was seen
  std::optional<Ending> ending_;
};

} // namespace tessera::judge
