#pragma once

/// One kernel of the kernels folder before the judge, on random data.

#include <string>

#include "judge/judge.hpp"

namespace tessera::judge::testing {

struct Case {
  const char* kernel = ""; ///< its file in kernels/, without .so
  Abi abi = Abi::Leetgpu;
  DType type = DType::F32;
  Index m = 45, n = 50, k = 37;
  Op op_a = Op::None, op_b = Op::None;
  double alpha = 1, beta = 0;
  double time_limit = 20;
  double tolerance = 1e-5; ///< of an element, relative to k
};

/// Prints the verdict, so that a test's log shows what a user would read.
JudgeVerdict try_kernel(const Case& test);

std::string kernel_path(const std::string& kernel);

} // namespace tessera::judge::testing
