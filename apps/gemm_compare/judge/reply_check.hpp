#pragma once

/// Checks a reply of the child. A judged kernel can write to the judge's socket, so a reply may hold any bytes.

#include <string>

#include "channel.hpp"

namespace tessera::judge {

/// Returns the bytes of a whole stored operand.
std::int64_t bytes_of(const Problem& problem, Operand operand);

/// Returns "" for a reply that the child can send to `command` within `time_limit` seconds, else what makes no sense in
/// it. After "" no arithmetic with the reply's members can overflow.
std::string nonsense_in(const Reply& reply, const Command& command, const Problem& problem, double time_limit);

} // namespace tessera::judge
