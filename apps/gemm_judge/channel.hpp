#pragma once

/// The messages between the judge and its child program. A socket of packets carries commands and replies. The operands
/// lie in the child's own memory, where the parent writes and reads them while the child is stopped. The judged kernel
/// runs in the child and may change all of that memory and send replies of its own. The parent therefore keeps the
/// operands and what it expects in memory that no other process sees, reads its own clock, and uses of a reply only
/// what it has checked.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/types.hpp>

namespace tessera::judge {

inline constexpr int channel_fd = 3; ///< the child's end of the socket
inline constexpr int memory_fd = 4;  ///< the page of remarks in the child
inline constexpr std::uint32_t magic = 0x7e55e7a6;

/// An operand lies between two guard bands of so many bytes.
inline constexpr std::size_t guard_bytes = std::size_t{256} << 10;
/// A bad address that is farther from an operand, in bytes, is no overrun of it.
inline constexpr std::int64_t farthest_overrun = std::int64_t{1} << 30;

/// The word that fills guard bands, in which no byte may change.
inline constexpr std::uint32_t guard_word = 0x7fa5dead;

/// How many processes and threads a kernel may have. No honest one starts more, however many cores there are.
inline int most_tasks() { return std::max(256, 4 * static_cast<int>(std::thread::hardware_concurrency())); }

enum class Abi : int { Leetgpu = 0, Tessera = 1, Cblas = 2, Python = 3 };
enum class Device : int { Cpu = 0, Cuda = 1 };

/// A range of memory, in bytes from its start.
struct Region {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The product, without pointers. a, b and c are whole stored operands, with the padding between their rows. It is the
/// first packet that the child receives.
struct Problem {
  DType type = DType::F32;
  Op op_a = Op::None;
  Op op_b = Op::None;
  int threads = 1;
  GemmShape shape;
  Index lda = 0, ldb = 0, ldc = 0;
  double alpha = 1.0, beta = 0.0;
  Region a, b, c; ///< the operands before the call, in the parent's memory
  Region result;  ///< C after the call, in the parent's memory
  std::uint64_t arena_bytes = 0;
  std::uint64_t memory_limit = 0;
  double settle_seconds = 0.0; ///< CUDA: how long the child waits after each call for late writes
  double watch_seconds = 0.0;  ///< CUDA: how long the child watches a C that was found wrong
};

enum class Stage : int { Starting = 0, Loading = 1, Calling = 2, Inspecting = 3, Waiting = 4 };

enum class Operand : int { A = 0, B = 1, C = 2 };

/// A page that the child shares with the parent. It only chooses words of an explanation: where the child was when it
/// died, and which address was bad. No verdict depends on it.
struct SharedHeader {
  std::atomic<Stage> stage = Stage::Starting;
  std::atomic<int> fault_operand = -1;        ///< nearest operand; set by the child's handler of SIGSEGV and SIGBUS
  std::atomic<std::int64_t> fault_offset = 0; ///< bytes from that operand's first element; set only if it is close
};
static_assert(std::atomic<Stage>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

/// The parts of the sandbox, each a bit of Reply::layers. A kernel of Linux, a container or a policy may lack any.
enum Layer : std::uint32_t {
  PidNamespace = 1,         ///< the kernel sees and signals no process outside, and all of its processes end with it
  NetworkNamespace = 2,     ///< it has no network
  LandlockFiles = 4,        ///< it writes no file outside its scratch folder
  LandlockScopes = 8,       ///< it signals no process outside, whatever the name spaces
  SystemCallFilter = 16,    ///< it makes the system calls of a computation alone
  ScratchInMemory = 32,     ///< its scratch folder is a file system of its own, of most_scratch_bytes
  ControlGroupOfKernel = 64 ///< Linux stops all of its processes at once, and counts their processor time
};

/// How much the kernel's files in its scratch folder may hold, beside the limit of its memory, which counts them too.
inline constexpr std::size_t most_scratch_bytes = std::size_t{256} << 20;
/// The largest file that it may write.
inline constexpr std::size_t most_file_bytes = std::size_t{64} << 20;

enum class CommandKind : int {
  Ping = 0,    ///< reply at once; the parent measures how long that takes
  Load = 1,    ///< open the library
  Place = 2,   ///< CUDA: copy the operands to the device
  Call = 3,    ///< run the kernel once more
  Collect = 4, ///< CUDA: copy C from the device, and look at the memory around the operands
  Watch = 5,   ///< CUDA: look at C of the last call until it changes, at most for Problem::watch_seconds
};

/// A command to the child, which answers it with one reply. When the parent closes the socket, the child ends.
struct Command {
  std::uint32_t tag = magic;
  CommandKind kind = CommandKind::Ping;
  std::int32_t call = 0;
  std::uint64_t placement = 0; ///< CUDA: random; decides where in the device's memory the operands of this call lie
  std::uint64_t a = 0, b = 0, c = 0; ///< addresses of the operands in the child's memory
};

enum class ReplyKind : int {
  Ready = 0,         ///< prepared, or loaded
  Done = 1,          ///< the command was carried out; `finding` says what the child saw
  CannotLoad = 2,    ///< dlopen failed
  MissingSymbol = 3, ///< the library does not export the ABI's function
  Unavailable = 4,   ///< the device or enough of its memory is missing; the kernel is not at fault
  Rejected = 5,      ///< the kernel does not take this call
  Failed = 6,        ///< the kernel returned an error
  Threw = 7,         ///< an exception came out of the kernel
  DeviceFault = 8,   ///< the device reports an error after the call
  OutOfMemory = 9,   ///< std::bad_alloc came out of the kernel
};

enum class Finding : int {
  Nothing = 0,
  OutOfBounds = 1,   ///< CUDA
  InputChanged = 2,  ///< CUDA
  Late = 3,          ///< CUDA
  FloatingState = 4, ///< the kernel left the control words of floating-point arithmetic changed; `text` says how
  Heap = 5,          ///< the heap's own words are no longer what malloc wrote; `text` says where
};

struct Reply {
  std::uint32_t tag = magic;
  ReplyKind kind = ReplyKind::Ready;
  std::int32_t call = -1;                  ///< of the command that it answers
  CommandKind answers = CommandKind::Ping; ///< that command's kind, so that no reply passes for another one's
  Finding finding = Finding::Nothing;
  Operand operand = Operand::C;
  std::uint32_t layers = 0; ///< Layer bits; only in the first reply
  std::int64_t offset = 0;  ///< bytes from the operand's first element, negative in front of it
  std::uint64_t arena = 0;  ///< address of the operands' memory in the child; only in the first reply
  double seconds = 0.0;     ///< by the child's clock
  char text[480] = {};
};

} // namespace tessera::judge
