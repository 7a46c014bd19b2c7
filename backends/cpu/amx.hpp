#pragma once

namespace tessera::cpu {

/// Null if this process may use AMX's tiles on bf16, else what is missing. The first call asks the kernel for them:
/// Linux keeps their 8 KiB of registers from programs that have not asked (arch_prctl, ARCH_REQ_XCOMP_PERM).
const char* why_no_amx() noexcept;

} // namespace tessera::cpu
