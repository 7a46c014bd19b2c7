#pragma once

/// Lets the judge run one kernel of the kernels folder on random data.

#include <ostream>
#include <string>

#include "gemm_judge/judge.hpp"

namespace tessera::judge {

/// Boost prints it in messages.
inline std::ostream& operator<<(std::ostream& out, Offence offence) { return out << to_string(offence); }

} // namespace tessera::judge

namespace tessera::judge::testing {

struct Case {
  const char* kernel = ""; ///< The kernel's file in kernels/, without .so.
  Abi abi = Abi::Leetgpu;
  DType type = DType::F32;
  Index m = 45, n = 50, k = 37;
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0;
  double time_limit = 20;
  double tolerance = 1e-5; ///< Tolerance of an element, relative to k.
  int threads = 2;
  std::size_t memory_limit = std::size_t{1} << 30;
  std::uint32_t without_layers = 0;
  double peak = 0; ///< What the machine does, in operations a second; 0: unknown.
  int repeat = 3;
};

/// Judges the kernel and prints the verdict, so that a test's log shows what a user would read.
JudgeVerdict try_kernel(const Case& test);

std::string kernel_path(const std::string& kernel);

} // namespace tessera::judge::testing
