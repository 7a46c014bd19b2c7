/// gemm_judge runs one untrusted kernel for gemm_compare, which watches this process from outside.
/// gemm_compare starts it as gemm_judge LIBRARY ABI DEVICE, with the descriptors of channel.hpp open.

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <thread>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/status.hpp>

#include "device.hpp"
#include "entry.hpp"
#include "guarded_buffer.hpp"
#include "judge/channel.hpp"
#include "limits.hpp"

namespace tessera::judge {
namespace {

void say(Reply& reply, ReplyKind kind, const char* text) {
  reply.kind = kind;
  std::snprintf(reply.text, sizeof reply.text, "%s", text);
}

void send_reply(const Reply& reply) { send(channel_fd, &reply, sizeof reply, MSG_NOSIGNAL); }

/// The operands of one call.
struct Operands {
  Operands(Executor& executor, const Problem& problem, std::uint64_t placement)
      : a(executor, problem.a.bytes, shift(placement)),
        b(executor, problem.b.bytes, shift(placement >> 8)),
        c(executor, problem.c.bytes, shift(placement >> 16)) {}
  static std::size_t shift(std::uint64_t random) { return (random % 16) * 256; }

  GuardedBuffer a, b, c;
};

class Session {
 public:
  Session(SharedHeader& header, std::byte* memory, Device device)
      : header_(header), problem_(header.problem), memory_(memory), machine_(device) {}

  Machine& machine() { return machine_; }
  void open(std::unique_ptr<Entry> entry) { entry_ = std::move(entry); }
  const char* reject() const { return entry_->reject(call_of(nullptr)); }

  Reply run(const Command& command) {
    Reply reply;
    reply.call = command.call;
    reply.kind = ReplyKind::Done;
    // The old operands are freed after the new ones are allocated, so that no pointer comes twice in a row.
    const std::unique_ptr<Operands> old = std::move(operands_);
    operands_ = std::make_unique<Operands>(machine_.executor(), problem_, command.placement);
    operands_->a.fill(memory_ + problem_.a.offset);
    operands_->b.fill(memory_ + problem_.b.offset);
    operands_->c.fill(memory_ + problem_.c.offset);
    watch_operands({operands_->a.data(), operands_->b.data(), operands_->c.data()},
                   {problem_.a.bytes, problem_.b.bytes, problem_.c.bytes});
    if (!call_kernel(reply)) return reply;

    header_.stage = Stage::Inspecting;
    first_.resize(problem_.c.bytes);
    operands_->c.read(first_.data());
    std::memcpy(memory_ + problem_.result.offset, first_.data(), first_.size());
    inspect(*operands_, reply);
    // Work of the last call that is still running would write to that call's C.
    if (old && reply.finding == Finding::Nothing) inspect_old(*old, reply);
    std::swap(first_, old_);
    return reply;
  }

  /// Watches C of the last run() until it changes or watch_seconds are over. A write may come later than run() waits.
  Reply watch(const Command& command) {
    Reply reply;
    reply.call = command.call;
    reply.kind = ReplyKind::Done;
    header_.stage = Stage::Inspecting;
    const measure::HostStopwatch watch;
    while (operands_ && !inspect_old(*operands_, reply) && watch.seconds() < problem_.watch_seconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      throw_if_failed(machine_.synchronize());
    }
    return reply;
  }

 private:
  GemmCall call_of(const Operands* x) const {
    return {problem_.type,
            Math::Strict,
            problem_.op_a,
            problem_.op_b,
            problem_.m,
            problem_.n,
            problem_.k,
            problem_.alpha,
            x ? x->a.data() : nullptr,
            problem_.lda,
            x ? x->b.data() : nullptr,
            problem_.ldb,
            problem_.beta,
            x ? x->c.data() : nullptr,
            problem_.ldc,
            problem_.threads};
  }

  bool call_kernel(Reply& reply) {
    const GemmCall call = call_of(operands_.get());
    const pid_t self = getpid();
    int returned = 0;
    std::string thrown;
    bool threw = false;
    bool out_of_memory = false;
    throw_if_failed(machine_.synchronize());
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
    reply.seconds = seconds;
    if (out_of_memory)
      say(reply, ReplyKind::OutOfMemory, thrown.c_str());
    else if (threw)
      say(reply, ReplyKind::Threw, thrown.c_str());
    else if (!status.ok())
      say(reply, ReplyKind::DeviceFault, status.why.c_str());
    else if (returned != 0)
      say(reply, ReplyKind::Failed, ("it returned " + std::to_string(returned)).c_str());
    return reply.kind == ReplyKind::Done;
  }

  static bool found(Reply& reply, Finding finding, Operand operand, std::optional<std::int64_t> offset) {
    if (!offset) return false;
    reply.finding = finding;
    reply.operand = operand;
    reply.offset = *offset;
    return true;
  }

  static bool input_differs(Reply& reply, Operand operand, const GuardedBuffer& buffer, const std::byte* image) {
    const auto offset = buffer.first_difference(image);
    if (!offset) return false;
    const bool inside = *offset >= 0 && *offset < static_cast<std::int64_t>(buffer.bytes());
    return found(reply, inside ? Finding::InputChanged : Finding::OutOfBounds, operand, offset);
  }

  void inspect(const Operands& x, Reply& reply) {
    if (found(reply, Finding::OutOfBounds, Operand::C, x.c.first_difference(nullptr))) return;
    std::this_thread::sleep_for(std::chrono::duration<double>(problem_.settle_seconds));
    throw_if_failed(machine_.synchronize());
    if (input_differs(reply, Operand::A, x.a, memory_ + problem_.a.offset)) return;
    if (input_differs(reply, Operand::B, x.b, memory_ + problem_.b.offset)) return;
    // A difference now was written after the kernel had returned.
    found(reply, Finding::Late, Operand::C, x.c.first_difference(first_.data()));
  }

  bool inspect_old(const Operands& old, Reply& reply) const {
    return found(reply, Finding::Late, Operand::C, old.c.first_difference(old_.data()));
  }

  SharedHeader& header_;
  const Problem problem_; ///< a copy, because the kernel can write to the shared one
  std::byte* memory_;
  Machine machine_;
  std::unique_ptr<Entry> entry_;
  std::unique_ptr<Operands> operands_;
  std::vector<std::byte> first_; ///< C when the kernel had returned
  std::vector<std::byte>
      old_; ///< during a call, C of the call before it when that had returned; between calls, C of the last one
};

int serve(const std::string& library, Abi abi, Device device) {
  SharedHeader probe_size;
  void* mapped = mmap(nullptr, sizeof probe_size, PROT_READ, MAP_SHARED, memory_fd, 0);
  if (mapped == MAP_FAILED) return EXIT_FAILURE;
  const Problem problem = static_cast<SharedHeader*>(mapped)->problem;
  const std::size_t bytes = problem.result.offset + problem.result.bytes;
  munmap(mapped, sizeof probe_size);
  mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (mapped == MAP_FAILED) return EXIT_FAILURE;
  auto* memory = static_cast<std::byte*>(mapped);
  auto& header = *static_cast<SharedHeader*>(mapped);

  Reply reply;
  try {
    Session session(header, memory, device);
    if (device == Device::Cpu) {
      // The child itself needs two sets of operands for a moment, and the copies of C. The kernel may use the rest.
      const std::size_t own = 2 * (problem.a.bytes + problem.b.bytes + 2 * problem.c.bytes) + (std::size_t{64} << 20);
      limit_memory(own + problem.memory_limit);
    }
    // Some ABIs cannot pass the number of threads; OpenMP and most BLAS libraries read this variable.
    setenv("OMP_NUM_THREADS", std::to_string(problem.threads).c_str(), 1);
    report_faults(header);
    header.stage = Stage::Loading;
    std::unique_ptr<Entry> entry = open_entry(library, abi, problem.type, reply);
    if (!entry) {
      send_reply(reply);
      return EXIT_SUCCESS;
    }
    session.open(std::move(entry));
    if (const char* why = session.reject()) {
      say(reply, ReplyKind::Rejected, why);
      send_reply(reply);
      return EXIT_SUCCESS;
    }
    header.stage = Stage::Waiting;
    send_reply(reply);
    Command command;
    while (recv(channel_fd, &command, sizeof command, 0) == static_cast<ssize_t>(sizeof command)) {
      reply = command.kind == CommandKind::Watch ? session.watch(command) : session.run(command);
      header.stage = Stage::Waiting;
      send_reply(reply);
    }
    _exit(EXIT_SUCCESS); // without the destructors of the judged library, which may misbehave
  } catch (const Error& error) {
    const bool device_failed = error.code() == StatusCode::DeviceError;
    say(reply, device_failed ? ReplyKind::DeviceFault : ReplyKind::Unavailable, error.what());
  } catch (const std::exception& error) {
    say(reply, ReplyKind::Unavailable, error.what());
  }
  send_reply(reply);
  return EXIT_SUCCESS;
}

} // namespace
} // namespace tessera::judge

int main(int argc, char** argv) {
  using namespace tessera::judge;
  if (argc != 4) {
    std::fputs("gemm_judge is started by gemm_compare --kernel, not by hand\n", stderr);
    return EXIT_FAILURE;
  }
  confine();
  const int status = serve(argv[1], static_cast<Abi>(std::atoi(argv[2])), static_cast<Device>(std::atoi(argv[3])));
  _exit(status);
}
