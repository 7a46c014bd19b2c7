/// The messages of a trial: commands, replies and the end of the child.

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "processes/held_memory.hpp"
#include "trial.hpp"

namespace tessera::judge {
namespace {

const char* name_of(int operand) { return std::array{"A", "B", "C"}.at(static_cast<std::size_t>(operand)); }

/// Returns where a bad address lies, if it is near an operand. The kernel may have written anything into the header.
std::string place_of_fault(const SharedHeader& header, const Problem& problem) {
  const int operand = header.fault_operand;
  if (operand < 0 || operand > 2) return {};
  const std::int64_t offset = header.fault_offset;
  const std::int64_t bytes = bytes_of(problem, static_cast<Operand>(operand));
  if (offset < -farthest_overrun || offset > bytes + farthest_overrun) return {};
  if (offset < 0) return fmt::format(", {} bytes in front of {}", -offset, name_of(operand));
  if (offset < bytes) return fmt::format(", inside {}", name_of(operand));
  return fmt::format(", {} bytes behind the end of {}", offset - bytes, name_of(operand));
}

std::string bounded(const Reply& reply) { return {reply.text, strnlen(reply.text, sizeof reply.text)}; }

/// Does the text hold a message of glibc's malloc about a heap that was written to?
bool blames_the_heap(const std::string& output) {
  for (const char* said : {"malloc(): ", "free(): ", "realloc(): ", "double free", "corrupted size", "corrupted double",
                           "malloc_consolidate(): ", "sysmalloc: "})
    if (output.find(said) != std::string::npos) return true;
  return false;
}

} // namespace

void Trial::refuse(const Reply& reply) {
  switch (reply.kind) {
    case ReplyKind::CannotLoad:
      return end(Offence::CannotLoad, bounded(reply));
    case ReplyKind::MissingSymbol:
      return end(Offence::MissingSymbol, bounded(reply));
    case ReplyKind::Rejected:
      return end(Offence::None, bounded(reply), Outcome::Rejected);
    case ReplyKind::Unavailable:
      return end(Offence::None, bounded(reply), Outcome::Unavailable);
    case ReplyKind::DeviceFault:
      return end(Offence::Crashed, bounded(reply));
    default:
      return end(Offence::BreaksProtocol, "an unexpected reply before the first call");
  }
}

bool Trial::send_command(const Command& command) {
  if (send(channel_, &command, sizeof command, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof command)) return true;
  explain_death(child_->end(grace), "before call " + std::to_string(command.call + 1));
  return false;
}

std::optional<Reply> Trial::ask(const Command& command, double time_limit, const std::string& where) {
  return send_command(command) ? answer(command, time_limit, where) : std::nullopt;
}

std::optional<Reply> Trial::answer(const Command& command, double time_limit, const std::string& where) {
  std::optional<Reply> reply = receive(time_limit, where);
  if (!reply) return reply;
  if (sender_ != tree_->worker()) {
    end(Offence::BreaksProtocol, "a reply came from another process " + where);
    return std::nullopt;
  }
  if (const std::string why = nonsense_in(*reply, command, problem_); !why.empty()) {
    end(Offence::BreaksProtocol, why + " " + where);
    return std::nullopt;
  }
  if (command.kind == CommandKind::Load) return reply;
  switch (reply->kind) {
    case ReplyKind::Done:
      break;
    case ReplyKind::Failed:
      end(Offence::ReportsFailure, bounded(*reply) + " " + where);
      break;
    case ReplyKind::Threw:
      end(Offence::Throws, bounded(*reply) + " " + where);
      break;
    case ReplyKind::OutOfMemory:
      end(request_.memory_limit > 0 ? Offence::ExceedsMemory : Offence::Throws,
          fmt::format("{} {}{}", bounded(*reply), where,
                      request_.memory_limit > 0 ? fmt::format(", with {} MiB", request_.memory_limit >> 20) : ""));
      break;
    case ReplyKind::DeviceFault:
      end(Offence::Crashed, bounded(*reply) + " " + where);
      break;
    case ReplyKind::Unavailable:
      end(Offence::None, bounded(*reply), Outcome::Unavailable);
      break;
    default:
      end(Offence::BreaksProtocol, "an unexpected reply " + where);
      break;
  }
  return ending_ ? std::nullopt : reply;
}

/// Are these more processes and threads than a kernel may have?
bool Trial::is_crowded(const std::vector<pid_t>& processes) {
  const int tasks = ProcessTree::count_tasks(processes);
  if (tasks <= most_tasks()) return false;
  objection_ = {Offence::TooManyProcesses, fmt::format("it has {} processes and threads", tasks), 0};
  return true;
}

bool Trial::keeps_limits() {
  const std::vector<pid_t> processes = tree_->processes();
  if (is_crowded(processes)) return false;
  const Scratch scratch{scratch_->path().string(), (layers_ & ScratchInMemory) != 0};
  const std::size_t in_files = bytes_in(scratch, tree_->worker(), processes);
  if (in_files > most_scratch_bytes) {
    objection_ = {Offence::ExceedsMemory, "its temporary files hold too much", most_scratch_bytes};
    return false;
  }
  if (request_.memory_limit == 0) return true;
  const bool is_python = request_.abi == Abi::Python;
  const std::size_t own = std::size_t{is_python ? 512U : 64U} << 20;
  const HeldMemory memory = memory_of(processes);
  // Of the memory that the kernel's processes share, its files are all where the sandbox is whole.
  const std::size_t held = memory.own + std::max(memory.shared, in_files);
  if (held <= problem_.arena_bytes + request_.memory_limit + own) return true;
  std::string text = processes.size() == 1
                         ? fmt::format("it holds {} MiB", held >> 20)
                         : fmt::format("{} processes hold {} MiB together", processes.size(), held >> 20);
  if (in_files >> 20 > 0) text += fmt::format(", {} of them in files,", in_files >> 20);
  objection_ = {Offence::ExceedsMemory, std::move(text), request_.memory_limit};
  return false;
}

/// Looks at the child while it runs the kernel.
bool Trial::is_well() {
  if (!keeps_limits()) return false;
  if (problem_.threads < static_cast<int>(std::thread::hardware_concurrency())) {
    const int running = tree_->running_threads();
    ++times_looked_;
    times_over_ += running > problem_.threads;
    threads_seen_ = std::max(threads_seen_, running);
  }
  return true;
}

void Trial::check_threads(double processor, double given, int number) {
  // Short calls may hide within the tolerance one by one, but not all together.
  all_processor_ += processor;
  all_given_ += given;
  const double least_counted = tree_->has_group() ? 2e-3 : 20e-3;
  const auto exceeds = [&](double used, double allowed) { return used > allowed * 1.05 + least_counted; };
  const auto used = [&](double seconds, double allowed, const std::string& when) {
    return fmt::format("{:.3g} s of processor time, where {} thread{} had {:.3g} s, {}", seconds, problem_.threads,
                       problem_.threads == 1 ? "" : "s", allowed, when);
  };
  const std::string where = fmt::format("in call {}", number + 1);
  if (exceeds(processor, given))
    end(Offence::UsesMoreThreads, used(processor, given, where));
  else if (exceeds(all_processor_, all_given_))
    end(Offence::UsesMoreThreads, used(all_processor_, all_given_, fmt::format("in calls 1 to {}", number + 1)));
  else if (times_over_ >= 3 && 2 * times_over_ > times_looked_)
    end(Offence::UsesMoreThreads,
        fmt::format("{} threads ran at once, with {} given, {}", threads_seen_, problem_.threads, where));
}

void Trial::object(const std::string& where) {
  const std::string limit = objection_.limit > 0 ? fmt::format(", with {} MiB", objection_.limit >> 20) : "";
  end(objection_.offence, fmt::format("{} {}{}", objection_.text, where, limit));
}

std::optional<Reply> Trial::receive(double time_limit, const std::string& where) {
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  const ChildProcess::Look look{std::chrono::milliseconds(5), [this] { return is_well(); }};
  const bool looks = tree_ && on_processor();
  const auto event = child_->wait(channel_, Clock::now() + limit, looks ? &look : nullptr);
  replied_ = Clock::now();
  switch (event) {
    case ChildProcess::Event::TimeLimit:
      end(Offence::Hangs, fmt::format("not done after {:g} s {}", time_limit, where));
      return std::nullopt;
    case ChildProcess::Event::Flood:
      end(Offence::FloodsOutput, fmt::format("more than {} MiB of output {}", flood_bytes >> 20, where));
      return std::nullopt;
    case ChildProcess::Event::Objection:
      object(where);
      return std::nullopt;
    case ChildProcess::Event::Ended:
    case ChildProcess::Event::Readable:
      break;
  }
  Reply reply;
  iovec into{&reply, sizeof reply};
  alignas(cmsghdr) std::array<char, 256> control{};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(channel_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got <= 0) {
    explain_death(child_->end(grace), where);
    return std::nullopt;
  }
  sender_ = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
      sender_ = credentials.pid;
    } else if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
      // A kernel may send descriptors, of which this process wants none.
      for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len; at += sizeof(int)) {
        int descriptor = -1;
        std::memcpy(&descriptor, reinterpret_cast<const char*>(part) + at, sizeof descriptor);
        close(descriptor);
      }
    }
  if (got != static_cast<ssize_t>(sizeof reply) || reply.tag != magic || (message.msg_flags & MSG_TRUNC) != 0) {
    end(Offence::BreaksProtocol, "something that is no reply came through the judge's socket " + where);
    return std::nullopt;
  }
  return reply;
}

void Trial::end(Offence offence, std::string why, Outcome outcome) {
  child_->end(std::chrono::milliseconds(0), tree_ ? &*tree_ : nullptr);
  if (!ending_) ending_ = Ending{outcome, offence, std::move(why)};
}

void Trial::explain_death(int status, std::string where) {
  if (page_.header().stage == Stage::Inspecting) where += ", after the kernel had returned,";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return end(Offence::Exits, "it closed the judge's socket, or was killed, " + where);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT && blames_the_heap(child_->output()))
    return end(Offence::SmashesHeap, fmt::format("malloc found it and aborted {}", where));
  if (WIFSIGNALED(status))
    return end(Offence::Crashed,
               fmt::format("{} {}{}", signal_name(WTERMSIG(status)), where, place_of_fault(page_.header(), problem_)));
  end(Offence::Exits, fmt::format("the process ended with status {} {}", WEXITSTATUS(status), where));
}

} // namespace tessera::judge
