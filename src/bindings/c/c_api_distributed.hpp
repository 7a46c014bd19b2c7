#pragma once

/// What the C interface to distributed products shares: grids, a caller's choices, and plans.

#include <tessera/distributed/tessera_distributed.h>

#include <complex>
#include <memory>
#include <string>

#include <tessera/distributed/distributed.hpp>

#include "c_api.hpp"

struct tessera_grid {
  std::shared_ptr<tessera::detail::GridState> state;
};

namespace tessera::c_api {

/// A rank's arguments, after they were checked.
struct Arguments {
  detail::DistributedType type;
  Op op_a = Op::None, op_b = Op::None;
  std::complex<double> alpha, beta;
  LocalOrder order = LocalOrder::ColumnMajor;
  DistributedOptions options;
};

/// Throws InvalidArgument unless a structure of the caller has the size that this library's has. `instead` says what to
/// do.
void check_size(std::size_t size, std::size_t expected, const char* what, const char* instead);

/// Reads the caller's choices; null stands for the defaults. Throws InvalidArgument.
void take_options(const tessera_pgemm_options* words, Arguments& x);

/// Throws InvalidArgument unless a plan can be written there.
void check_plan(const tessera_pgemm_plan* plan);
/// Returns a plan as the caller gets it.
tessera_pgemm_plan plan_of(const DistributedPlan& plan);

} // namespace tessera::c_api
