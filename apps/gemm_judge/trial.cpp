#include "trial.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "processes/glimpse.hpp"

namespace tessera::judge {
namespace {

namespace fs = std::filesystem;

std::string find_judge(const std::string& named) {
  if (!named.empty()) return named;
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {here / "gemm_judge", here.parent_path() / "libexec" / "tessera" / "gemm_judge"})
    if (fs::exists(path, error)) return path;
  throw IoError("--kernel: gemm_judge, which runs the kernel, is neither in " + here.string() + " nor in " +
                (here.parent_path() / "libexec" / "tessera").string() + "; install it with gemm_compare");
}

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

constexpr std::size_t shift_step = 256, shift_steps = 256; ///< how operands are moved within their memory
constexpr std::size_t small_inputs = std::size_t{16} << 20;

std::size_t room_for(const Region& region) {
  constexpr std::size_t unit = 4096;
  return (region.bytes + 2 * guard_bytes + shift_step * shift_steps + unit - 1) / unit * unit;
}

} // namespace

ClosedMemory::ClosedMemory() : before_(prctl(PR_GET_DUMPABLE)) { prctl(PR_SET_DUMPABLE, 0); }
ClosedMemory::~ClosedMemory() {
  if (before_ == 1) prctl(PR_SET_DUMPABLE, 1);
}

std::uint64_t Trial::arena_bytes(const Problem& problem) {
  return 2 * (room_for(problem.a) + room_for(problem.b) + room_for(problem.c));
}

bool Trial::on_processor() const { return request_.kernel->device() == Device::Cpu; }

Trial::Trial(const JudgeRequest& request, const Problem& problem, std::byte* memory)
    : request_(request), problem_(problem), memory_(memory), random_(std::random_device{}()) {
  if (on_processor()) processors_.emplace(problem_.threads);
  start();
  open_library();
}

void Trial::open_library() {
  if (send(channel_, &problem_, sizeof problem_, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof problem_))
    return explain_death(child_->end(grace), "before the library was opened");
  const std::optional<Reply> prepared = receive(request_.time_limit, "before the library was opened");
  if (!prepared) return;
  if (prepared->kind != ReplyKind::Ready) return refuse(*prepared);
  arena_ = prepared->arena;
  layers_ = prepared->layers;
  tree_.emplace(child_->pid(), sender_, on_processor() && (request_.without_layers & ControlGroupOfKernel) == 0);
  if (!calibrate()) return;
  const std::optional<Reply> reply =
      ask({.kind = CommandKind::Load}, request_.time_limit, "while the library was opened");
  if (reply && reply->kind != ReplyKind::Ready) refuse(*reply);
}

void Trial::start() {
  const std::string program = find_judge(request_.program);
  std::array<int, 2> ends{};
  // The socket carries packets, so that a message arrives whole or not at all. Sending to a dead child is an error, not
  // a signal.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw IoError(std::string("--kernel: socketpair: ") + std::strerror(errno));
  channel_ = ends[0];
  // Linux says of each packet which process sent it.
  const int yes = 1;
  setsockopt(channel_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
  try {
    scratch_.emplace();
    child_.emplace(
        std::vector<std::string>{program, request_.kernel->library(), std::to_string(static_cast<int>(request_.abi)),
                                 std::to_string(static_cast<int>(request_.kernel->device())), scratch_->path().string(),
                                 std::to_string(request_.without_layers), request_.kernel->interpreter(),
                                 processors_ && processors_->are_fewer() ? "bound" : "free"},
        std::vector<std::pair<int, int>>{{ends[1], channel_fd}, {page_.descriptor(), memory_fd}});
  } catch (...) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
}

bool Trial::calibrate() {
  std::byte first{};
  if (!read_memory(sender_, arena_, &first, 1)) {
    end(Offence::None,
        fmt::format("Linux does not let gemm_compare read the memory of its child ({}); give it that right, in a "
                    "container by --cap-add SYS_PTRACE",
                    std::strerror(errno)),
        Outcome::Unavailable);
    return false;
  }
  constexpr int trips = 16;
  std::vector<double> seconds;
  for (int trip = 0; trip < trips; ++trip) {
    if (!stop("before the library was opened")) return false;
    if (trip == 0) give_processors();
    if (!send_command({.call = trip})) return false;
    const auto from = Clock::now();
    tree_->go_on();
    if (!answer({.call = trip}, request_.time_limit, "before the library was opened")) return false;
    seconds.push_back(seconds_between(from, replied_));
  }
  std::sort(seconds.begin(), seconds.end());
  round_trip_ = std::min(seconds[trips / 4], 1e-3);
  // The child waits for a command now, or will in a moment.
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::optional<WaitingPlace> place = tree_->worker_waits();
    if (!place) break;
    if (place->call == SYS_recvfrom && place->arguments[0] == channel_fd) {
      idle_ = place;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

Trial::~Trial() {
  close(channel_); // tells the child to end
  if (ending_ || !child_) return;
  child_->end(grace, tree_ ? &*tree_ : nullptr);
}

void Trial::give_processors() {
  if (!processors_ || !processors_->are_fewer()) return;
  if (is_bound_) processors_->choose_again();
  is_bound_ = tree_->bind(processors_->mask());
}

bool Trial::place(int number) {
  Slot& slot = slots_[static_cast<std::size_t>(number) % slots_.size()];
  std::uint64_t at = arena_ + (number % 2 == 0 ? 0 : arena_bytes(problem_) / 2);
  const auto set = [&](RemoteOperand& operand, const Region& region) {
    operand = {tree_->worker(), at + guard_bytes + random_() % shift_steps * shift_step, region.bytes};
    at += room_for(region);
    return operand.write(memory_ + region.offset);
  };
  const bool placed = set(slot.a, problem_.a) && set(slot.b, problem_.b) && set(slot.c, problem_.c);
  slot.used = placed;
  const auto keep = [&](std::vector<std::byte>& to, const Region& region) {
    to.assign(memory_ + region.offset, memory_ + region.offset + region.bytes);
  };
  if (problem_.a.bytes + problem_.b.bytes <= small_inputs) {
    keep(slot.a_before, problem_.a);
    keep(slot.b_before, problem_.b);
  }
  return placed;
}

std::optional<Reply> Trial::call(int number) {
  const std::string where = fmt::format("in call {}", number + 1);
  Slot& slot = slots_[static_cast<std::size_t>(number) % slots_.size()];
  if (!stop(where)) return std::nullopt;
  if (was_disturbed_) give_processors();
  if (!place(number)) {
    end(Offence::BreaksProtocol, "the memory of the operands is gone " + where);
    return std::nullopt;
  }
  const Command command{magic,           CommandKind::Call, number, random_(), slot.a.address(), slot.b.address(),
                        slot.c.address()};
  if (!on_processor()) {
    tree_->go_on();
    Command copy = command;
    copy.kind = CommandKind::Place;
    if (!ask(copy, request_.time_limit, where) || !stop(where)) return std::nullopt;
  }
  threads_seen_ = times_looked_ = times_over_ = 0;
  const double processor_before = tree_->processor_seconds();
  const ProcessTree::ThreadTimes worker_before = tree_->worker_thread();
  const std::optional<double> stalled_before = tree_->stalled_seconds();
  Glimpse glimpse(slot.c, random_);
  const double judge_waited_before = ProcessTree::own_thread().waited;
  if (!send_command(command)) return std::nullopt;
  const auto from = Clock::now();
  tree_->go_on();
  std::optional<Reply> reply = answer(command, request_.time_limit, where);
  if (!reply) return reply;
  if (on_processor()) glimpse.take();
  judge_late_seconds_ = ProcessTree::own_thread().waited - judge_waited_before;
  const std::optional<Clock::time_point> returned = stop_after_return(where);
  if (!returned) return std::nullopt;
  const double window = window_seconds_ = seconds_between(from, Clock::now());
  const ProcessTree::ThreadTimes worker_after = tree_->worker_thread();
  const double ran = worker_after.ran - worker_before.ran;
  const double waited = worker_after.waited - worker_before.waited;
  const std::optional<double> stalled_after = tree_->stalled_seconds();
  waited_seconds_ = stalled_before && stalled_after ? *stalled_after - *stalled_before : waited;
  const double processor = processor_seconds_ = tree_->processor_seconds() - processor_before;
  constexpr double much = 0.1;
  was_disturbed_ = waited_seconds_ > much * window && processor < (1 - much) * problem_.threads * window;
  // While there are many processes, looks at them are rare, and a short call sees none.
  if (on_processor() && !keeps_limits()) {
    object(where);
    return std::nullopt;
  }
  if (on_processor() && !keep_result(slot, *reply)) return std::nullopt;
  // Where the kernel replied itself, its time went on until it returned.
  const bool ended_with_reply = on_processor() && *returned == replied_;
  if (const auto changed = ended_with_reply ? glimpse.first_change(slot.result) : std::nullopt;
      changed && reply->finding == Finding::Nothing) {
    reply->finding = Finding::Late;
    reply->operand = Operand::C;
    reply->offset = static_cast<std::int64_t>(*changed);
  }
  tree_->go_on();

  // While the first thread could have run and did not, it was no thread at work.
  if (on_processor()) check_threads(processor, problem_.threads * window - waited, number);
  if (ending_) return std::nullopt;
  check_time(*reply, seconds_between(from, *returned), ran, where);
  if (ending_) return std::nullopt;

  Command collect = command;
  collect.kind = CommandKind::Collect;
  const std::optional<Reply> collected = ask(collect, request_.time_limit + request_.settle_seconds, where);
  if (!collected) return std::nullopt;
  const auto adopt = [&](const Reply& from_other) {
    if (reply->finding != Finding::Nothing) return;
    reply->finding = from_other.finding;
    reply->operand = from_other.operand;
    reply->offset = from_other.offset;
    std::copy(std::begin(from_other.text), std::end(from_other.text), std::begin(reply->text));
  };
  adopt(*collected);
  if (!on_processor()) {
    if (!slot.c.read(memory_ + problem_.result.offset))
      end(Offence::BreaksProtocol, "the memory of C is gone " + where);
    return ending_ ? std::nullopt : reply;
  }
  if (!is_back()) {
    end_unreturned(where);
    return std::nullopt;
  }
  settle(request_.settle_seconds);
  Reply late;
  for (const Slot& one : slots_)
    if (late.finding == Finding::Nothing) look_at(one, late);
  adopt(late);
  return reply;
}

bool Trial::keep_result(Slot& slot, Reply& reply) {
  const auto examine = [&](Operand name, const RemoteOperand& operand, const std::byte* image) {
    const auto difference = operand.first_difference(image);
    if (!difference || reply.finding != Finding::Nothing) return !difference || !difference->unreadable;
    if (difference->unreadable) return false;
    const bool inside = difference->offset >= 0 && difference->offset < static_cast<std::int64_t>(operand.bytes());
    reply.finding = inside ? Finding::InputChanged : Finding::OutOfBounds;
    reply.operand = name;
    reply.offset = difference->offset;
    return true;
  };
  slot.result.resize(problem_.c.bytes);
  const bool readable = slot.c.read(slot.result.data()) && examine(Operand::C, slot.c, nullptr) &&
                        examine(Operand::A, slot.a, memory_ + problem_.a.offset) &&
                        examine(Operand::B, slot.b, memory_ + problem_.b.offset);
  if (!readable) {
    end(Offence::BreaksProtocol, fmt::format("the memory of the operands is gone in call {}", reply.call + 1));
    return false;
  }
  std::memcpy(memory_ + problem_.result.offset, slot.result.data(), slot.result.size());
  return true;
}

std::optional<Clock::time_point> Trial::stop_after_return(const std::string& where) {
  if (!stop(where)) return std::nullopt;
  if (!on_processor() || !idle_ || tree_->worker_has_returned(*idle_)) return replied_;
  for (const auto from = replied_; seconds_between(from, Clock::now()) < request_.time_limit;) {
    tree_->go_on();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (!stop(where)) return std::nullopt;
    if (tree_->worker_has_returned(*idle_)) return Clock::now();
  }
  end_unreturned(where);
  return std::nullopt;
}

void Trial::end_unreturned(const std::string& where) {
  end(Offence::BreaksProtocol, "the kernel answered in the judge's place and never returned " + where);
}

void Trial::check_time(Reply& reply, double passed, double ran, const std::string& where) {
  if (const std::string why = nonsense_in_time(reply.seconds, passed); !why.empty())
    return end(Offence::ForgesTime, why + " " + where);
  // The kernel ran in the worker's first thread, which cannot use more processor time than time passes. The child's own
  // work takes some microseconds, but Linux may count what an interrupt or another virtual machine took.
  constexpr double own_work = 20e-3;
  if (on_processor() && ran > 1.1 * reply.seconds + own_work)
    return end(Offence::ForgesTime,
               fmt::format("it says {:.3g} s, but its thread ran for {:.3g} s {}", reply.seconds, ran, where));
  // While the kernel computes on the processor that this process was on, it waits as well, and is not late.
  judge_late_seconds_ = std::min(judge_late_seconds_, std::max(0.0, passed - round_trip_ - reply.seconds));
  // What a busy machine makes the kernel wait counts as well: the kernel could cause it, or pretend it.
  reply.seconds = std::max(reply.seconds, passed - round_trip_);
}

bool Trial::is_back() {
  if (!idle_) return true;
  for (const auto until = Clock::now() + std::chrono::seconds(1);;) {
    const std::optional<WaitingPlace> place = tree_->worker_waits();
    if (!place || is_same_place(*place, *idle_)) return true;
    if (Clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

bool Trial::settle(double seconds) {
  for (const auto from = Clock::now();;) {
    if (idle_)
      if (const std::optional<bool> quiet = tree_->is_quiet(*idle_); quiet && *quiet) return true;
    if (seconds_between(from, Clock::now()) >= seconds) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
}

bool Trial::look_at(const Slot& slot, Reply& reply) const {
  if (!slot.used || slot.result.empty()) return true;
  const auto examine = [&](Operand name, const RemoteOperand& operand, const std::vector<std::byte>& image) {
    const auto difference = operand.first_difference(image.empty() ? nullptr : image.data());
    if (!difference || difference->unreadable) return !difference;
    reply.finding = Finding::Late;
    reply.operand = name;
    reply.offset = difference->offset;
    return false;
  };
  return examine(Operand::C, slot.c, slot.result) && examine(Operand::A, slot.a, slot.a_before) &&
         examine(Operand::B, slot.b, slot.b_before);
}

std::optional<Reply> Trial::watch(int number) {
  const Command command{magic, CommandKind::Watch, number};
  const std::string where = fmt::format("after call {}", number + 1);
  if (!on_processor()) return ask(command, request_.watch_seconds + request_.time_limit, where);
  Reply reply;
  reply.kind = ReplyKind::Done;
  reply.call = number;
  for (const auto from = Clock::now();;) {
    const bool quiet = settle(0.002); // before the look, so that nothing can come after it
    for (const Slot& slot : slots_)
      if (!look_at(slot, reply)) return reply;
    if (quiet || seconds_between(from, Clock::now()) > request_.watch_seconds) return reply;
    if (child_->wait(-1, Clock::now() + std::chrono::milliseconds(3)) == ChildProcess::Event::Ended) {
      explain_death(child_->end(grace), where);
      return std::nullopt;
    }
  }
}

bool Trial::stop(const std::string& where) {
  if (tree_->stop()) return true;
  if (child_->wait(-1, Clock::now()) == ChildProcess::Event::Ended)
    explain_death(child_->end(grace), where);
  else
    end(Offence::BreaksProtocol, "its processes did not stop when they were told to, " + where);
  return false;
}

} // namespace tessera::judge
