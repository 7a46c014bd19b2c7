#pragma once

/// Makes the error of one rank the error of all.

#include <bit>
#include <cstdint>
#include <span>

#include <tessera/status.hpp>

#include "mpi/communicator.hpp"

namespace tessera::distributed {

/// An argument that has to be equal on all ranks.
struct EqualArgument {
  EqualArgument(const char* argument, std::int64_t number) : name(argument), value(number) {}
  EqualArgument(const char* argument, double number)
      : name(argument), value(std::bit_cast<std::int64_t>(number)), is_real(true) {}

  const char* name;
  std::int64_t value;
  bool is_real = false;
};

/// Returns Ok on every rank if every rank passes Ok and all ranks pass equal arguments. Otherwise every rank gets one
/// and the same failure: the lowest rank's that failed, or InvalidArgument with the name and two values of the first
/// argument that differs. All ranks call it with the same number of arguments. Every text begins with `function`.
Status agree(Communicator& ranks, const char* function, const Status& mine,
             std::span<const EqualArgument> arguments = {}) noexcept;

} // namespace tessera::distributed
