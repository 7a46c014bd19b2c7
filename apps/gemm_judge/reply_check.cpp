#include "reply_check.hpp"

#include <fmt/format.h>

namespace tessera::judge {
namespace {

/// Can the child have found a difference at this offset?
bool is_possible(const Reply& reply, const Problem& problem) {
  if (reply.finding == Finding::Nothing || reply.finding == Finding::FloatingState || reply.finding == Finding::Heap)
    return true;
  const std::int64_t bytes = bytes_of(problem, reply.operand);
  const bool inside = reply.offset >= 0 && reply.offset < bytes;
  constexpr auto guard = static_cast<std::int64_t>(guard_bytes);
  const bool close = reply.offset >= -guard && reply.offset < bytes + guard;
  switch (reply.finding) {
    case Finding::InputChanged:
      return inside && reply.operand != Operand::C;
    case Finding::OutOfBounds:
      return close && !inside;
    default:
      return close && reply.operand == Operand::C;
  }
}

} // namespace

std::int64_t bytes_of(const Problem& problem, Operand operand) {
  const Region& region = operand == Operand::A ? problem.a : operand == Operand::B ? problem.b : problem.c;
  return static_cast<std::int64_t>(region.bytes);
}

std::string nonsense_in(const Reply& reply, const Command& command, const Problem& problem) {
  const auto kind = static_cast<int>(reply.kind);
  if (kind < 0 || kind > static_cast<int>(ReplyKind::OutOfMemory)) return fmt::format("a reply of kind {}", kind);
  if (reply.kind != ReplyKind::Done) return {};
  if (reply.call != command.call) return fmt::format("a reply to call {}", std::int64_t{reply.call} + 1);
  if (reply.answers != command.kind) return "a reply to another command";
  const auto finding = static_cast<int>(reply.finding), operand = static_cast<int>(reply.operand);
  if (finding < 0 || finding > static_cast<int>(Finding::Heap)) return fmt::format("a reply with finding {}", finding);
  if (operand < 0 || operand > static_cast<int>(Operand::C)) return fmt::format("a reply about operand {}", operand);
  if (!is_possible(reply, problem))
    return fmt::format("a reply of a difference at byte {} of an operand of {} bytes", reply.offset,
                       bytes_of(problem, reply.operand));
  return {};
}

std::string nonsense_in_time(double claimed, double seen) {
  if (claimed > 0 && claimed <= seen) return {}; // NaN is neither
  return fmt::format("it says {:g} s, and the judge waited {:g} s", claimed, seen);
}

} // namespace tessera::judge
