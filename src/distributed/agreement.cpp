#include "agreement.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>

#include "grid_state.hpp"

namespace tessera::distributed {
namespace {

/// A failure on its way to the other ranks; longer texts are cut.
struct FailureMessage {
  int code = 0;
  char text[500] = {};
};

std::string shown(std::int64_t value, bool is_real) {
  if (!is_real) return std::to_string(value);
  std::ostringstream text;
  text.precision(17);
  text << std::bit_cast<double>(value);
  return text.str();
}

/// Sends the failure of the rank `from` to all.
Status spread_failure(Communicator& ranks, const char* function, const Status& mine, int from) {
  auto message = std::make_unique<FailureMessage>();
  if (ranks.rank() == from) {
    message->code = static_cast<int>(mine.code);
    std::strncpy(message->text, mine.why.c_str(), sizeof message->text - 1);
  }
  Requests requests;
  Status status = ranks.broadcast(message.get(), sizeof *message, from, requests);
  if (status.ok()) status = ranks.wait(requests);
  if (!status.ok()) {
    static_cast<void>(message.release()); // MPI may still write to it
    return status;
  }
  std::string why = function;
  if (ranks.size() > 1) why += ": rank " + std::to_string(from);
  return {static_cast<StatusCode>(message->code), why + ": " + message->text};
}

} // namespace

Status agree(Communicator& ranks, const char* function, const Status& mine,
             std::span<const EqualArgument> arguments) noexcept try {
  // The largest of v and of ~v say whether all v are equal. The first number says which rank failed, if one did.
  std::vector<std::int64_t> numbers{mine.ok() ? 0 : ranks.size() - ranks.rank()};
  for (const EqualArgument& argument : arguments) {
    numbers.push_back(argument.value);
    numbers.push_back(~argument.value);
  }
  if (Status status = ranks.largest(numbers.data(), static_cast<int>(numbers.size())); !status.ok()) {
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
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::distributed

namespace tessera::detail {

void run_on_all(GridState& grid, const char* function, const std::function<void()>& step) try {
  Status mine;
  try {
    step();
  } catch (const Error& error) {
    mine = {error.code(), error.what()};
  } catch (const std::bad_alloc& error) {
    mine = out_of_memory(error);
  }
  throw_if_failed(distributed::agree(*grid.world, function, mine));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
