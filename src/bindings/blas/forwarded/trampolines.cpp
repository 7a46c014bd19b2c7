/// The exported names of TESSERA_LAPACK_ROUTINES, as the OpenBLAS of PyPI's wheels has them: scipy_dgesdd_, or
/// scipy_dgesdd_64_. Each is a jump to the address in its slot. A slot begins with the address of code that asks
/// tessera_lapack_target() for the routine, once, and then jumps there. Arguments, also the lengths of strings that
/// gfortran appends, and results stay where the caller and the routine expect them, so that no routine needs a
/// prototype. Threads may come through a slot at the same time: each of them writes the same address.
///
/// Source: lazy binding through a procedure linkage table, System V ABI for AMD64, section 5.2, and ELF for the Arm
/// 64-bit Architecture.

#include "bindings/blas/symbols.hpp"
#include "routines.hpp"

// What the assembler makes for each name: the jump, the code of the first call, and the slot. \@ counts the names.
#define TESSERA_LAPACK_NAME(name) "tessera_lapack_jump " TESSERA_BLAS_TEXT(TESSERA_BLAS_NAME(scipy_##name##_)) "\n"

#if defined(__x86_64__)

asm(R"(
  .macro tessera_lapack_jump name
  .globl \name
  .type \name, @function
  .balign 16
\name:
  .cfi_startproc
  endbr64
  jmpq *.Ltessera_slot_\@(%rip)
.Ltessera_first_\@:
  endbr64
  leaq .Ltessera_slot_\@(%rip), %r11
  jmp .Ltessera_lapack_first
  .cfi_endproc
  .size \name, . - \name
  .pushsection .data.rel.tessera_lapack, "aw", @progbits
.Ltessera_slot_\@:
  .quad .Ltessera_first_\@
  .popsection
  .endm

  .pushsection .data.rel.tessera_lapack, "aw", @progbits
  .balign 8
  .globl tessera_lapack_slots
  .hidden tessera_lapack_slots
tessera_lapack_slots:
  .popsection

  .pushsection .text.tessera_lapack, "ax", @progbits
  .balign 16
.Ltessera_lapack_first: # keeps every register in which arguments may be; r11 has the slot's address
  .cfi_startproc
  pushq %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  andq $-16, %rsp
  subq $192, %rsp
  movq %rax, (%rsp)
  movq %rdi, 8(%rsp)
  movq %rsi, 16(%rsp)
  movq %rdx, 24(%rsp)
  movq %rcx, 32(%rsp)
  movq %r8, 40(%rsp)
  movq %r9, 48(%rsp)
  movq %r10, 56(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  movq %r11, %rdi
  movq 8(%rbp), %rsi
  call tessera_lapack_target
  movq %rax, %r11
  movq (%rsp), %rax
  movq 8(%rsp), %rdi
  movq 16(%rsp), %rsi
  movq 24(%rsp), %rdx
  movq 32(%rsp), %rcx
  movq 40(%rsp), %r8
  movq 48(%rsp), %r9
  movq 56(%rsp), %r10
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmpq *%r11
  .cfi_endproc
)" TESSERA_LAPACK_ROUTINES(TESSERA_LAPACK_NAME) R"(
  .popsection
  .purgem tessera_lapack_jump
)");

#elif defined(__aarch64__)

asm(R"(
  .macro tessera_lapack_jump name
  .globl \name
  .type \name, %function
  .balign 16
\name:
  .cfi_startproc
  hint #34 // bti c
  adrp x16, .Ltessera_slot_\@
  ldr x16, [x16, :lo12:.Ltessera_slot_\@]
  br x16
.Ltessera_first_\@:
  hint #34
  adrp x17, .Ltessera_slot_\@
  add x17, x17, :lo12:.Ltessera_slot_\@
  b .Ltessera_lapack_first
  .cfi_endproc
  .size \name, . - \name
  .pushsection .data.rel.tessera_lapack, "aw", %progbits
.Ltessera_slot_\@:
  .xword .Ltessera_first_\@
  .popsection
  .endm

  .pushsection .data.rel.tessera_lapack, "aw", %progbits
  .balign 8
  .globl tessera_lapack_slots
  .hidden tessera_lapack_slots
tessera_lapack_slots:
  .popsection

  .pushsection .text.tessera_lapack, "ax", %progbits
  .balign 16
.Ltessera_lapack_first: // keeps every register in which arguments may be; x17 has the slot's address
  .cfi_startproc
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset 29, -224
  .cfi_offset 30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  mov x0, x17
  mov x1, x30
  bl tessera_lapack_target
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_restore 30
  .cfi_restore 29
  .cfi_def_cfa_offset 0
  br x16
  .cfi_endproc
)" TESSERA_LAPACK_ROUTINES(TESSERA_LAPACK_NAME) R"(
  .popsection
  .purgem tessera_lapack_jump
)");

#else // the names are not exported, and the wheels keep their own LAPACK
#endif
