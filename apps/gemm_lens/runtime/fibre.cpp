#include "fibre.hpp"

#include <sys/mman.h>

namespace tessera::lens {

bool reserve_stacks() {
  stacks_bytes = most_threads * stack_bytes + host_stack_bytes;
  void* const all =
      mmap(nullptr, stacks_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return false;
  stacks_begin = reinterpret_cast<std::uintptr_t>(all);
  for (int thread = 0; thread <= most_threads; ++thread) // the last one is the host's
    mprotect(reinterpret_cast<void*>(stacks_begin + thread * stack_bytes), 4096, PROT_NONE);
  return true;
}

bool below_stack(std::uintptr_t address) {
  const std::uintptr_t offset = address - stacks_begin;
  return offset < (most_threads + 1) * stack_bytes && offset % stack_bytes < 4096;
}

namespace {

std::uintptr_t end_of(int thread) { return thread < 0 ? stacks_begin + stacks_bytes : end_of_stack(thread); }

} // namespace

#if defined(__x86_64__)

extern "C" void tessera_lens_switch(void** from, void* to);
// Keeps what the calling convention says that a call keeps: six registers, and the stack.
asm(R"(
.text
.type tessera_lens_switch, @function
tessera_lens_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size tessera_lens_switch, .-tessera_lens_switch
)");

void prepare(Context& context, int thread, void (*function)()) {
  auto* top = reinterpret_cast<void**>(end_of(thread) - 64);
  *--top = nullptr; // where a function finds its return address; the stack is aligned as after a call
  *--top = reinterpret_cast<void*>(function);
  for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
  context.stack_pointer = top;
}

void switch_context(Context& from, Context& to) { tessera_lens_switch(&from.stack_pointer, to.stack_pointer); }

#else

void prepare(Context& context, int thread, void (*function)()) {
  getcontext(&context.registers);
  const std::size_t bytes = thread < 0 ? host_stack_bytes : stack_bytes;
  context.registers.uc_stack.ss_sp = reinterpret_cast<void*>(end_of(thread) - bytes);
  context.registers.uc_stack.ss_size = bytes;
  context.registers.uc_link = nullptr;
  makecontext(&context.registers, function, 0);
}

void switch_context(Context& from, Context& to) { swapcontext(&from.registers, &to.registers); }

#endif

} // namespace tessera::lens
