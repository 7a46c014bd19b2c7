#pragma once

/// The judge runs a kernel from outside in a child process and reports what it did, how fast it was and what is wrong
/// with it. README.md has the protocol and the attacks that it does not stop.
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
  Abi abi = Abi::Leetgpu;             ///< of a library; a Python file has its own
  /// The operands in host memory, with C as it is before the product; C is not written. m, n and k must be at least 1.
  /// With a == nullptr there are no calls with the caller's data. The type I8 of elements.hpp, which no kernel of a
  /// ladder has, is judged in this way alone, by whole numbers.
  GemmCall call;
  /// Checks a product, which has the order and the layout of the caller's C. Returns what is wrong with it, or "" if it
  /// is right. The judge calls it after each call of the kernel with the caller's data.
  std::function<std::string(const void* c)> check;
  int repeat = 7;                                  ///< timed calls
  double time_limit = 30;                          ///< seconds for opening the library and for each call
  std::size_t memory_limit = std::size_t{4} << 30; ///< CPU: address space beyond the operands; 0: none
  double settle_seconds = 0.03;                    ///< the longest wait after each call for late writes
  double watch_seconds = 2;                        ///< the longest watch of a wrong C, and after the last call
  /// Returns the floating-point operations a second that this machine does with as many threads, or 0 if that is not
  /// known; `again`: measures once more. It is called if the kernel passed. A kernel that is faster does not pass.
  std::function<double(bool again)> peak{};
  std::uint32_t without_layers = 0;                    ///< Layer bits of the sandbox to leave out, for tests
  std::string program;                                 ///< path of gemm_judge; empty: beside this program
  std::function<void(int done, int calls)> progress{}; ///< after each call
};

enum class Outcome {
  Judged,      ///< see `offence`
  Rejected,    ///< the kernel or its ABI does not take the call; see `why`
  Unavailable, ///< the device or enough memory for the operands is missing; see `why`
};

struct JudgeVerdict {
  Outcome outcome = Outcome::Judged;
  Offence offence = Offence::None;
  std::string why;             ///< one line for the table; empty if the kernel passed
  std::vector<double> seconds; ///< of the timed calls
  /// Processor time of the same calls by Linux' count, of all threads and processes. It has that count's resolution,
  /// and holds what the judge's own process in the child takes, some 0.1 ms.
  std::vector<double> processor_seconds;
  /// Why the times say nothing of the kernel; empty if they do. Other programs had the processors that it was given, or
  /// its first thread had none for a while. The times hold the waiting, because a kernel could pretend it.
  std::string too_busy;
  std::vector<std::byte> c; ///< C of the last call with the caller's data, laid out as the caller's C; empty: none
  std::string output;       ///< what the kernel printed, at most 8 KiB
  std::vector<std::string> missing; ///< parts of the sandbox that this machine does not have
  double round_trip = 0;            ///< seconds that a call of nothing takes by the parent's clock
  bool passed() const noexcept { return outcome == Outcome::Judged && offence == Offence::None; }
};

/// Judges one kernel on one product. Throws InvalidArgument for a request that makes no sense, IoError if the child
/// program cannot be started.
JudgeVerdict judge(const JudgeRequest& request);

/// Judges the kernel on small shapes that no tile divides, in two calls of each with whole numbers. Returns the first
/// verdict that is not a pass, with the shape in `why`; else a pass. A shape that the kernel rejects counts as passed.
JudgeVerdict judge_odd_shapes(JudgeRequest request);

std::string_view to_string(Abi abi);
std::string_view to_string(Device device);
Abi parse_abi(std::string_view word);       ///< reads leetgpu, tessera or cblas; throws InvalidArgument
Device parse_device(std::string_view word); ///< reads cpu or cuda; throws InvalidArgument

} // namespace tessera::judge
