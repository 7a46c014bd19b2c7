#pragma once

/// Products of host matrices on devices that reach one another's memory, as the GPUs of one host do over NVLink. Each
/// device computes rows of C, and all need B, which they exchange slice by slice (slice_exchange.hpp); or columns of C
/// where there are more of them, and they exchange A. So each operand leaves the host's memory once. Threads that
/// feed the devices meet twice in each step (thread_team.hpp): ordinary memory is copied faster by several of them.
///
/// Source: the stationary-C algorithms of distributed memory (SUMMA), whose panels come from the rank that owns them.

#include <span>
#include <string_view>

#include <tessera/executor.hpp>

namespace tessera::detail {

/// Computes `call`, whose operands are in host memory. Sets `possible` to false, and has written nothing, where the
/// executors are not devices of one model that reach one another, or the product is too small for all of them. If a
/// device fails, the others stop; the Status names it. After any error but DeviceError C is as it was.
Status exchanged_gemm(std::span<Executor* const> executors, const GemmCall& call, std::string_view kernel,
                      bool& possible) noexcept;

} // namespace tessera::detail
