#include "trial.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <tessera/status.hpp>

namespace tessera::judge {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds grace{500};

std::string find_judge(const std::string& named) {
  if (!named.empty()) return named;
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {here / "gemm_judge", here.parent_path() / "libexec" / "tessera" / "gemm_judge"})
    if (fs::exists(path, error)) return path;
  throw IoError("--kernel: gemm_judge, which runs the kernel, is neither in " + here.string() + " nor in " +
                (here.parent_path() / "libexec" / "tessera").string() + "; install it with gemm_compare");
}

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

} // namespace

Trial::Trial(const JudgeRequest& request, SharedMemory& memory)
    : request_(request), memory_(memory), problem_(memory.header().problem) {
  const std::string program = find_judge(request.program);
  std::array<int, 2> ends{};
  // The socket carries packets, so that a message arrives whole or not at all. Sending to a dead child is an error, not
  // a signal.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw IoError(std::string("--kernel: socketpair: ") + std::strerror(errno));
  channel_ = ends[0];
  try {
    child_.emplace(
        std::vector<std::string>{program, request.kernel->library(), std::to_string(static_cast<int>(request.abi)),
                                 std::to_string(static_cast<int>(request.kernel->device()))},
        std::vector<std::pair<int, int>>{{ends[1], channel_fd}, {memory.descriptor(), memory_fd}});
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  const std::optional<Reply> reply = receive(request_.time_limit, "while the library was opened");
  if (!reply) return;
  if (reply->kind != ReplyKind::Ready) refuse(*reply);
}

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

Trial::~Trial() {
  close(channel_); // tells the child to end
  if (!ending_) child_->end(grace);
}

std::optional<Reply> Trial::call(int number, std::uint64_t placement) {
  return ask({magic, CommandKind::Call, number, placement}, request_.time_limit, fmt::format("in call {}", number + 1));
}

std::optional<Reply> Trial::watch(int number) {
  return ask({magic, CommandKind::Watch, number, 0}, request_.watch_seconds + request_.time_limit,
             fmt::format("after call {}", number + 1));
}

std::optional<Reply> Trial::ask(const Command& command, double time_limit, const std::string& where) {
  if (send(channel_, &command, sizeof command, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof command)) {
    explain_death(child_->end(grace), "before call " + std::to_string(command.call + 1));
    return std::nullopt;
  }
  std::optional<Reply> reply = receive(time_limit, where);
  if (!reply) return reply;
  if (const std::string why = nonsense_in(*reply, command, problem_, time_limit); !why.empty()) {
    end(Offence::BreaksProtocol, why + " " + where);
    return std::nullopt;
  }
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

std::optional<Reply> Trial::receive(double time_limit, const std::string& where) {
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  switch (child_->wait(channel_, Clock::now() + limit)) {
    case ChildProcess::Event::TimeLimit:
      end(Offence::Hangs, fmt::format("not done after {:g} s {}", time_limit, where));
      return std::nullopt;
    case ChildProcess::Event::Flood:
      end(Offence::FloodsOutput, fmt::format("more than {} MiB of output {}", flood_bytes >> 20, where));
      return std::nullopt;
    case ChildProcess::Event::Ended:
    case ChildProcess::Event::Readable:
      break;
  }
  Reply reply;
  const ssize_t got = recv(channel_, &reply, sizeof reply, MSG_DONTWAIT);
  if (got <= 0) {
    explain_death(child_->end(grace), where);
    return std::nullopt;
  }
  if (got != static_cast<ssize_t>(sizeof reply) || reply.tag != magic) {
    end(Offence::BreaksProtocol, "something that is no reply came through the judge's socket " + where);
    return std::nullopt;
  }
  return reply;
}

void Trial::end(Offence offence, std::string why, Outcome outcome) {
  child_->end(std::chrono::milliseconds(0));
  if (!ending_) ending_ = Ending{outcome, offence, std::move(why)};
}

void Trial::explain_death(int status, std::string where) {
  if (memory_.header().stage == Stage::Inspecting) where += ", after the kernel had returned,";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return end(Offence::Exits, "it closed the judge's socket, or was killed, " + where);
  if (WIFSIGNALED(status))
    return end(Offence::Crashed, fmt::format("{} {}{}", signal_name(WTERMSIG(status)), where,
                                             place_of_fault(memory_.header(), problem_)));
  end(Offence::Exits, fmt::format("the process ended with status {} {}", WEXITSTATUS(status), where));
}

} // namespace tessera::judge
