/// gemm_judge runs one untrusted kernel for gemm_compare, which watches its processes from outside.
/// gemm_compare starts it as gemm_judge LIBRARY ABI DEVICE SCRATCH WITHOUT PYTHON PROCESSORS, with the descriptors of
/// channel.hpp open. SCRATCH is the only folder in which the kernel may write, WITHOUT has the Layer bits to leave out,
/// and PYTHON is the interpreter of a LIBRARY that is a Python file. PROCESSORS is "bound" if the parent chooses its
/// processors.

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include <tessera/status.hpp>

#include "limits.hpp"
#include "python_kernel.hpp"
#include "sandbox.hpp"
#include "session.hpp"
#include "supervisor.hpp"

namespace tessera::judge {
namespace {

void send_reply(const Reply& reply) { send(channel_fd, &reply, sizeof reply, MSG_NOSIGNAL); }

/// Waits for commands. The parent knows at which place of the stack it waits, and finds a kernel that waits elsewhere.
[[gnu::noinline]] void obey(Session& session, const std::string& library, Abi abi) {
  Command command;
  // This is recv(), whose frame on the stack would change when the kernel starts its first thread.
  while (syscall(SYS_recvfrom, channel_fd, &command, sizeof command, 0, nullptr, nullptr) ==
         static_cast<long>(sizeof command)) {
    Reply reply = command.kind == CommandKind::Load ? session.load(library, abi) : session.carry_out(command);
    if (command.kind != CommandKind::Load) session.wait_stage();
    reply.answers = command.kind;
    send_reply(reply);
  }
}

int serve(const std::string& library, Abi abi, Device device, std::uint32_t layers, const std::string& python) {
  void* mapped = mmap(nullptr, sizeof(SharedHeader), PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
  if (mapped == MAP_FAILED) return EXIT_FAILURE;
  Problem problem;
  if (recv(channel_fd, &problem, sizeof problem, 0) != static_cast<ssize_t>(sizeof problem)) return EXIT_FAILURE;
  // Some ABIs cannot pass the number of threads; OpenMP and most BLAS libraries read this variable.
  setenv("OMP_NUM_THREADS", std::to_string(problem.threads).c_str(), 1);
  Reply reply;
  if (abi == Abi::Python) {
    become_python(python, library, device, problem, layers);
    say(reply, ReplyKind::Unavailable, ("Python cannot be started: " + python).c_str());
    send_reply(reply);
    return EXIT_FAILURE;
  }
  try {
    Session session(*static_cast<SharedHeader*>(mapped), problem, device);
    reply.arena = session.arena();
    reply.layers = layers;
    send_reply(reply);
    obey(session, library, abi);
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
  if (argc != 8) {
    std::fputs("gemm_judge is started by gemm_compare --kernel, not by hand\n", stderr);
    return EXIT_FAILURE;
  }
  const auto abi = static_cast<Abi>(std::atoi(argv[2]));
  const auto device = static_cast<Device>(std::atoi(argv[3]));
  const std::string scratch = argv[4];
  const auto without = static_cast<std::uint32_t>(std::atoi(argv[5]));
  // The driver of a GPU opens files, sockets and memory that a sandbox would refuse.
  const bool sandboxed = device == Device::Cpu;
  const std::string in_memory = (without & ScratchInMemory) == 0 ? scratch : "";
  std::uint32_t layers = become_worker(sandboxed && (without & PidNamespace) == 0, in_memory, {argv[1], argv[6]});
  confine();
  if (!scratch.empty()) setenv("TMPDIR", scratch.c_str(), 1);
  const bool is_bound = std::string_view(argv[7]) == "bound";
  if (sandboxed) layers = enter_sandbox(layers, without, scratch, argv[1], is_bound);
  _exit(serve(argv[1], abi, device, layers, argv[6]));
}
