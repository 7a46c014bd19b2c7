#pragma once

/// The judge: runs a kernel from outside in a child process and says what it did, how fast it was, and what is wrong
/// with it. See README.md for the protocol and for what cannot be defended against.
///
///     const KernelFile kernel("mine.cpp", {}, {});
///     JudgeRequest request{.kernel = &kernel, .abi = Abi::Leetgpu, .call = call};
///     const JudgeVerdict verdict = judge(request);

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "kernel_file.hpp"

namespace tessera::judge {

struct JudgeRequest {
  const KernelFile* kernel = nullptr; ///< compiled, if it was a source
  Abi abi = Abi::Leetgpu;
  /// Host operands, C as it is before the product (not written); m, n, k ≥ 1. With a == nullptr only the shape counts,
  /// and all calls are made with whole numbers.
  GemmCall call;
  /// "": the product, in the caller's order and laid out as the caller's C, is right; else what is wrong with it.
  /// Called for each call with the caller's data.
  std::function<std::string(const void* c)> check;
  int repeat = 7;                                      ///< timed calls
  double time_limit = 30;                              ///< seconds for opening the library, and for each call
  std::size_t memory_limit = std::size_t{4} << 30;     ///< CPU: address space beyond the operands; 0: none
  double settle_seconds = 0.03;                        ///< how long each call waits for late writes
  double watch_seconds = 2;                            ///< the same where C is wrong: is it merely not there yet?
  std::string program;                                 ///< gemm_judge; empty: beside this program
  std::function<void(int done, int calls)> progress{}; ///< after each call
};

enum class Outcome {
  Judged,      ///< see `offence`
  Rejected,    ///< the kernel, or its ABI, does not take such a call: `why`
  Unavailable, ///< no device, or not enough memory for the operands: `why`
};

struct JudgeVerdict {
  Outcome outcome = Outcome::Judged;
  Offence offence = Offence::None;
  std::string why;             ///< one line for the table; empty if the kernel passed
  std::vector<double> seconds; ///< timed calls with the caller's data
  std::vector<std::byte> c;    ///< of the last one, laid out as the caller's C; empty if there was none
  std::string output;          ///< what the kernel printed, at most 8 KiB
  bool passed() const noexcept { return outcome == Outcome::Judged && offence == Offence::None; }
};

/// Throws InvalidArgument for a request that makes no sense, IoError if the child program cannot be started.
JudgeVerdict judge(const JudgeRequest& request);

/// Shapes that no tile divides: what judge_odd_shapes() tries, two calls each with whole numbers.
/// The first verdict that is not a pass, with the shape in `why`; else a pass.
JudgeVerdict judge_odd_shapes(JudgeRequest request);

std::string_view to_string(Abi abi);
std::string_view to_string(Device device);
Abi parse_abi(std::string_view word);       ///< leetgpu, tessera, cblas; throws InvalidArgument
Device parse_device(std::string_view word); ///< cpu, cuda

} // namespace tessera::judge
