#pragma once

/// How far from the machine's limit: measured once for each backend, type, mode and number of threads.

#include <map>
#include <tuple>

#include <tessera/executor.hpp>

#include "result.hpp"

namespace tessera::compare_app {

class CeilingTable {
 public:
  /// Percent of what the machine could reach on this result's shape: the multiply-add peak, or the memory bandwidth
  /// where moving each operand once takes longer. NaN where the executor measures nothing.
  double percent(Executor& executor, const Result& result, double seconds);

 private:
  std::map<std::tuple<Backend, DType, Math, int>, Ceilings> measured_;
};

} // namespace tessera::compare_app
