#pragma once

/// Makes the error of one rank the error of all.

#include <bit>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/status.hpp>

#include "mpi/communicator.hpp"

namespace tessera::distributed {

/// Returns an exception as a Status, without a text where there is no memory for it.
Status status_of(const Error& error) noexcept;

/// Runs `work`, which returns a Status or nothing, and returns what it throws as a Status, for the ranks to agree on.
template <class Work>
Status guarded(Work&& work) noexcept try {
  if constexpr (std::is_void_v<decltype(work())>) {
    work();
    return {};
  } else {
    return work();
  }
} catch (const Error& error) {
  return status_of(error);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

/// An argument that has to be equal on all ranks.
struct EqualArgument {
  EqualArgument() = default;
  EqualArgument(const char* argument, std::int64_t number) : name(argument), value(number) {}
  EqualArgument(const char* argument, double number)
      : name(argument), value(std::bit_cast<std::int64_t>(number)), is_real(true) {}

  const char* name = "";
  std::int64_t value = 0;
  bool is_real = false;
};

/// Returns Ok on every rank if every rank passes Ok and all ranks pass equal arguments. Otherwise every rank gets one
/// and the same failure: the lowest rank's that failed, or InvalidArgument with the name and two values of the first
/// argument that differs. All ranks call it with the same number of arguments, at most 63. Every text begins with
/// `function`. A rank whose memory is short takes part as well; its text may be empty. A thread that MPI does not allow
/// to call it is InvalidArgument.
Status agree(Communicator& ranks, const char* function, const Status& mine,
             std::span<const EqualArgument> arguments = {}) noexcept;

} // namespace tessera::distributed
