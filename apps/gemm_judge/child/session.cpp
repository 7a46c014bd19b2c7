#include "session.hpp"

#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include <tessera/backend.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/status.hpp>

#include "limits.hpp"

namespace tessera::judge {

void say(Reply& reply, ReplyKind kind, const char* text) {
  reply.kind = kind;
  std::snprintf(reply.text, sizeof reply.text, "%s", text);
}

namespace {

bool found(Reply& reply, Finding finding, Operand operand, std::optional<std::int64_t> offset) {
  if (!offset) return false;
  reply.finding = finding;
  reply.operand = operand;
  reply.offset = *offset;
  return true;
}

bool input_differs(Reply& reply, Operand operand, const GuardedBuffer& buffer, const std::byte* image) {
  const auto offset = buffer.first_difference(image);
  if (!offset) return false;
  const bool inside = *offset >= 0 && *offset < static_cast<std::int64_t>(buffer.bytes());
  return found(reply, inside ? Finding::InputChanged : Finding::OutOfBounds, operand, offset);
}

const std::byte* bytes_at(std::uint64_t address) { return reinterpret_cast<const std::byte*>(address); }

} // namespace

struct Session::Operands {
  Operands(Executor& executor, const Problem& problem, std::uint64_t placement)
      : a(executor, problem.a.bytes, shift(placement)),
        b(executor, problem.b.bytes, shift(placement >> 8)),
        c(executor, problem.c.bytes, shift(placement >> 16)) {}
  static std::size_t shift(std::uint64_t random) { return (random % 16) * 256; }

  GuardedBuffer a, b, c;
};

Session::Session(SharedHeader& header, const Problem& problem, Device device)
    : header_(header),
      problem_(problem),
      device_(device),
      machine_(device),
      host_(tessera::executor(Backend::Reference)) {
  throw_if_failed(host_.allocate(problem.arena_bytes, arena_));
}

Session::~Session() {
  operands_.reset();
  older_.reset();
  host_.free(arena_);
}

GemmCall Session::call_of(const void* a, const void* b, void* c) const {
  return {{.type = problem_.type,
           .op_a = problem_.op_a,
           .op_b = problem_.op_b,
           .m = problem_.shape.m,
           .n = problem_.shape.n,
           .k = problem_.shape.k,
           .alpha = problem_.alpha,
           .a = a,
           .lda = problem_.lda,
           .b = b,
           .ldb = problem_.ldb,
           .beta = problem_.beta,
           .c = c,
           .ldc = problem_.ldc,
           .threads = problem_.threads}};
}

Reply Session::load(const std::string& library, Abi abi) {
  Reply reply;
  header_.stage = Stage::Loading;
  if (device_ == Device::Cpu)
    limit_memory(problem_.memory_limit == 0 ? 0 : problem_.memory_limit + (std::size_t{64} << 20));
  report_faults(header_);
  heap_.emplace();
  entry_ = open_entry(library, abi, problem_.type, reply);
  if (!entry_) return reply;
  if (const char* why = entry_->reject(call_of(nullptr, nullptr, nullptr))) say(reply, ReplyKind::Rejected, why);
  header_.stage = Stage::Waiting;
  return reply;
}

Reply Session::carry_out(const Command& command) {
  switch (command.kind) {
    case CommandKind::Call:
      return call(command);
    case CommandKind::Collect:
      return collect(command);
    case CommandKind::Watch:
      return watch(command);
    case CommandKind::Place:
      place(command);
      break;
    default:
      break;
  }
  Reply reply;
  reply.call = command.call;
  reply.kind = ReplyKind::Done;
  return reply;
}

void Session::place(const Command& command) {
  // The old operands are freed after the new ones are allocated, so that no pointer comes twice in a row.
  older_ = std::move(operands_);
  operands_ = std::make_unique<Operands>(machine_.executor(), problem_, command.placement);
  operands_->a.fill(bytes_at(command.a));
  operands_->b.fill(bytes_at(command.b));
  operands_->c.fill(bytes_at(command.c));
  machine_.flush_cache();
}

Reply Session::call(const Command& command) {
  Reply reply;
  reply.call = command.call;
  reply.kind = ReplyKind::Done;
  const void* a = operands_ ? operands_->a.data() : bytes_at(command.a);
  const void* b = operands_ ? operands_->b.data() : bytes_at(command.b);
  void* c = operands_ ? operands_->c.data() : const_cast<std::byte*>(bytes_at(command.c));
  watch_operands({a, b, c}, {problem_.a.bytes, problem_.b.bytes, problem_.c.bytes});
  const GemmCall call = call_of(a, b, c);
  const pid_t self = getpid();
  int returned = 0;
  std::string thrown;
  bool threw = false;
  bool out_of_memory = false;
  throw_if_failed(machine_.synchronize());
  const FloatingState before = FloatingState::now();
  header_.stage = Stage::Calling;
  const measure::HostStopwatch watch;
  try {
    returned = entry_->run(call, machine_.executor().default_queue().native());
  } catch (const std::bad_alloc& error) {
    out_of_memory = true;
    thrown = error.what();
  } catch (const std::exception& error) {
    threw = true;
    thrown = error.what();
  } catch (...) {
    threw = true;
    thrown = "something that is not a std::exception";
  }
  const Status status = machine_.synchronize();
  const double seconds = watch.seconds();
  if (getpid() != self) _exit(0); // the kernel forked, and this is the copy
  header_.stage = Stage::Inspecting;
  const FloatingState after = FloatingState::now();
  if (!(before == after)) {
    before.restore();
    changed_state_ = describe_change(before, after);
  }
  reply.seconds = seconds;
  if (out_of_memory)
    say(reply, ReplyKind::OutOfMemory, thrown.c_str());
  else if (threw)
    say(reply, ReplyKind::Threw, thrown.c_str());
  else if (!status.ok())
    say(reply, ReplyKind::DeviceFault, status.why.c_str());
  else if (returned != 0)
    say(reply, ReplyKind::Failed, ("it returned " + std::to_string(returned)).c_str());
  return reply;
}

Reply Session::collect(const Command& command) {
  Reply reply;
  reply.call = command.call;
  reply.kind = ReplyKind::Done;
  if (operands_) collect_from_device(command, reply);
  if (reply.finding != Finding::Nothing) return reply;
  if (!changed_state_.empty()) {
    say(reply, ReplyKind::Done, changed_state_.c_str());
    reply.finding = Finding::FloatingState;
    changed_state_.clear();
  } else if (const std::string damage = heap_ ? heap_->damage() : std::string(); !damage.empty()) {
    say(reply, ReplyKind::Done, damage.c_str());
    reply.finding = Finding::Heap;
  }
  return reply;
}

void Session::collect_from_device(const Command& command, Reply& reply) {
  const Operands& x = *operands_;
  first_.resize(problem_.c.bytes);
  x.c.read(first_.data());
  std::memcpy(const_cast<std::byte*>(bytes_at(command.c)), first_.data(), first_.size());
  const auto inspect = [&] {
    if (found(reply, Finding::OutOfBounds, Operand::C, x.c.first_difference(nullptr))) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(problem_.settle_seconds));
    throw_if_failed(machine_.synchronize());
    if (input_differs(reply, Operand::A, x.a, bytes_at(command.a))) return;
    if (input_differs(reply, Operand::B, x.b, bytes_at(command.b))) return;
    // A difference now was written after the kernel had returned.
    found(reply, Finding::Late, Operand::C, x.c.first_difference(first_.data()));
  };
  inspect();
  // Work of the last call that is still running would write to that call's C.
  if (older_ && reply.finding == Finding::Nothing) inspect_old(*older_, reply);
  std::swap(first_, old_);
  older_.reset();
}

/// Watches C of the last call until it changes or watch_seconds are over. A write may come later than collect() waits.
Reply Session::watch(const Command& command) {
  Reply reply;
  reply.call = command.call;
  reply.kind = ReplyKind::Done;
  const measure::HostStopwatch watch;
  while (operands_ && !inspect_old(*operands_, reply) && watch.seconds() < problem_.watch_seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    throw_if_failed(machine_.synchronize());
  }
  return reply;
}

bool Session::inspect_old(const Operands& old, Reply& reply) const {
  return found(reply, Finding::Late, Operand::C, old.c.first_difference(old_.data()));
}

} // namespace tessera::judge
