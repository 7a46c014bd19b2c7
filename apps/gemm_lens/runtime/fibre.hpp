#pragma once

/// Fibres: stacks between which a program switches by itself. Each thread of a block runs on one, and so does the
/// host's code, so that it can be left wherever it is.

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace tessera::lens {

/// A place at which a stack waits.
struct Context {
#if defined(__x86_64__)
  void* stack_pointer = nullptr;
#else
  ucontext_t registers;
#endif
};

/// Bytes of a thread's stack, which is its local memory too. The first page of each faults.
constexpr std::size_t stack_bytes = 256 << 10;
/// Bytes of the host's stack.
constexpr std::size_t host_stack_bytes = 8 << 20;
constexpr int most_threads = 1024; ///< of a block

/// Reserves all stacks. Returns false if the system has no room for them.
bool reserve_stacks();
/// Is the address on one of the stacks?
inline std::uintptr_t stacks_begin = 0;
inline std::size_t stacks_bytes = 0;
inline bool on_stack(std::uintptr_t address) { return address - stacks_begin < stacks_bytes; }
/// Does the address lie in a page below a stack, which a stack that is too small reaches first?
bool below_stack(std::uintptr_t address);

/// Returns the end of the stack of a thread, from which it grows down.
inline std::uintptr_t end_of_stack(int thread) {
  return stacks_begin + static_cast<std::size_t>(thread + 1) * stack_bytes;
}

/// Makes `context` begin with function() on the stack of a thread, or of the host if `thread` is −1. The function must
/// not return.
void prepare(Context& context, int thread, void (*function)());
/// Saves where the caller is in `from` and goes on in `to`.
void switch_context(Context& from, Context& to);

} // namespace tessera::lens
