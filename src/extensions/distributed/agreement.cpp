#include "agreement.hpp"

#include <array>
#include <cstring>
#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/number_text.hpp>

#include "grid_state.hpp"

namespace tessera::distributed {
namespace {

std::string shown(std::int64_t value, bool is_real) {
  if (!is_real) return std::to_string(value);
  return tessera::detail::general_text(std::bit_cast<double>(value), 17);
}

/// Sends the failure of the rank `from` to all. A rank without memory gets no text.
Status spread_failure(Communicator& ranks, const char* function, const Status& mine, int from) {
  AgreementMemory& memory = *ranks.for_agreements;
  if (ranks.rank() == from) {
    memory.failure_code = static_cast<int>(mine.code);
    memory.failure_text.fill(0);
    std::strncpy(memory.failure_text.data(), mine.why.c_str(), memory.failure_text.size() - 1);
  }
  Requests& requests = memory.requests;
  const auto send = [&](void* data, std::size_t bytes) {
    Status status = ranks.broadcast(data, bytes, from, requests);
    return status.ok() ? ranks.wait(requests) : status;
  };
  if (Status status = send(&memory.failure_code, sizeof memory.failure_code); !status.ok()) return status;
  if (Status status = send(memory.failure_text.data(), memory.failure_text.size()); !status.ok()) return status;
  const auto code = static_cast<StatusCode>(memory.failure_code);
  try {
    std::string why = function;
    if (ranks.size() > 1) why += ": rank " + std::to_string(from);
    return {code, why + ": " + memory.failure_text.data()};
  } catch (const std::bad_alloc&) {
    return {code, {}};
  }
}

/// May the calling thread call MPI?
Status check_thread(const Communicator& ranks) {
  if (ranks.thread_level() >= ThreadLevel::Serialized || ranks.on_main_thread()) return {};
  return {StatusCode::InvalidArgument,
          std::string("MPI was initialised with ") +
              (ranks.thread_level() == ThreadLevel::Funneled ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE") +
              ", and this thread is not the one that did it; call Tessera from that thread, or initialise MPI with "
              "MPI_THREAD_SERIALIZED"};
}

/// Agrees on what the ranks have checked.
Status agree_on_checked(Communicator& ranks, const char* function, const Status& mine,
                        std::span<const EqualArgument> arguments) {
  // The largest of v and of ~v say whether all v are equal. The first number says which rank failed, if one did.
  std::array<std::int64_t, AgreementMemory::most_numbers> numbers;
  numbers[0] = mine.ok() ? 0 : ranks.size() - ranks.rank();
  std::size_t count = 1;
  for (const EqualArgument& argument : arguments) {
    numbers[count++] = argument.value;
    numbers[count++] = ~argument.value;
  }
  if (Status status = ranks.largest(numbers.data(), static_cast<int>(count)); !status.ok()) {
    status.why = std::string(function) + ": " + status.why;
    return status;
  }
  if (numbers[0] != 0) return spread_failure(ranks, function, mine, ranks.size() - static_cast<int>(numbers[0]));
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::int64_t largest = numbers[1 + 2 * i], least = ~numbers[2 + 2 * i];
    if (largest != least)
      return {StatusCode::InvalidArgument, std::string(function) + ": the ranks disagree on " + arguments[i].name +
                                               ": one has " + shown(least, arguments[i].is_real) + ", another one " +
                                               shown(largest, arguments[i].is_real) + "; pass the same on all ranks"};
  }
  return {};
}

} // namespace

Status status_of(const Error& error) noexcept try {
  return {error.code(), error.what()};
} catch (const std::bad_alloc&) {
  return {error.code(), {}};
}

Status agree(Communicator& ranks, const char* function, const Status& mine,
             std::span<const EqualArgument> arguments) noexcept try {
  const Status thread = mine.ok() ? guarded([&] { return check_thread(ranks); }) : Status{};
  return agree_on_checked(ranks, function, mine.ok() ? thread : mine, arguments);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::distributed

namespace tessera::detail {

void run_on_all(GridState& grid, const char* function, const std::function<void()>& step) try {
  throw_if_failed(distributed::agree(*grid.world, function, distributed::guarded(step)));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
