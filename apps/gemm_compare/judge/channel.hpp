#pragma once

/// The messages and the shared memory between the judge and its child program: a socket carries commands and replies,
/// and the shared memory holds the operands. The judged kernel runs in the child and may overwrite both. The parent
/// therefore trusts nothing that comes from the child and checks the elements of C.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <tessera/types.hpp>

namespace tessera::judge {

inline constexpr int channel_fd = 3; ///< the child's end of the socket
inline constexpr int memory_fd = 4;  ///< the shared memory in the child
inline constexpr std::uint32_t magic = 0x7e55e7a5;

/// An operand lies between two guard bands of so many bytes.
inline constexpr std::size_t guard_bytes = std::size_t{256} << 10;
/// A bad address that is farther from an operand, in bytes, is no overrun of it.
inline constexpr std::int64_t farthest_overrun = std::int64_t{1} << 30;

/// The word that fills guard bands, in which no byte may change.
inline constexpr std::uint32_t guard_word = 0x7fa5dead;

enum class Abi : int { Leetgpu = 0, Tessera = 1, Cblas = 2 };
enum class Device : int { Cpu = 0, Cuda = 1 };

/// A range of the shared memory, in bytes from its start.
struct Region {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// The product, without pointers. a, b and c are whole stored operands, with the padding between their rows.
struct Problem {
  DType type = DType::F32;
  Op op_a = Op::None;
  Op op_b = Op::None;
  int threads = 1;
  Index m = 0, n = 0, k = 0;
  Index lda = 0, ldb = 0, ldc = 0;
  double alpha = 1.0, beta = 0.0;
  Region a, b, c; ///< the operands before the call; written by the parent
  Region result;  ///< C after the call; written by the child
  std::uint64_t memory_limit = 0;
  double settle_seconds = 0.0; ///< how long the child waits after each call for late writes
  double watch_seconds = 0.0;  ///< how long the child watches a C that was found wrong
};

enum class Stage : int { Starting = 0, Loading = 1, Calling = 2, Inspecting = 3, Waiting = 4 };

enum class Operand : int { A = 0, B = 1, C = 2 };

/// The start of the shared memory.
struct SharedHeader {
  Problem problem;
  std::atomic<Stage> stage = Stage::Starting;
  std::atomic<int> fault_operand = -1;        ///< nearest operand; set by the child's handler of SIGSEGV and SIGBUS
  std::atomic<std::int64_t> fault_offset = 0; ///< bytes from that operand's first element; set only if it is close
};
static_assert(std::atomic<Stage>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

enum class CommandKind : int {
  Call = 0,  ///< run the kernel once more
  Watch = 1, ///< look at C of the last call until it changes, at most for Problem::watch_seconds
};

/// A command to the child, which answers it with one reply. When the parent closes the socket, the child ends.
struct Command {
  std::uint32_t tag = magic;
  CommandKind kind = CommandKind::Call;
  std::int32_t call = 0;
  std::uint64_t placement = 0; ///< random; decides where in memory the operands of this call lie
};

enum class ReplyKind : int {
  Ready = 0,
  Done = 1,          ///< the call returned, or was watched; `finding` says what the child saw
  CannotLoad = 2,    ///< dlopen failed
  MissingSymbol = 3, ///< the library does not export the ABI's function
  Unavailable = 4,   ///< the device or enough of its memory is missing; the kernel is not at fault
  Rejected = 5,      ///< the kernel does not take this call
  Failed = 6,        ///< the kernel returned an error
  Threw = 7,         ///< an exception came out of the kernel
  DeviceFault = 8,   ///< the device reports an error after the call
  OutOfMemory = 9,   ///< std::bad_alloc came out of the kernel
};

enum class Finding : int { Nothing = 0, OutOfBounds = 1, InputChanged = 2, Late = 3 };

struct Reply {
  std::uint32_t tag = magic;
  ReplyKind kind = ReplyKind::Ready;
  std::int32_t call = -1;
  Finding finding = Finding::Nothing;
  Operand operand = Operand::C;
  std::int64_t offset = 0; ///< bytes from the operand's first element, negative in front of it
  double seconds = 0.0;
  char text[480] = {};
};

} // namespace tessera::judge
