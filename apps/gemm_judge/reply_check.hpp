#pragma once

/// Checks a reply of the child. A judged kernel can write to the judge's socket, so a reply may hold any bytes.

#include <string>

#include "channel.hpp"

namespace tessera::judge {

/// Returns the bytes of a whole stored operand.
std::int64_t bytes_of(const Problem& problem, Operand operand);

/// Returns "" for a reply that the child can send to `command`, else what makes no sense in it. After "" no arithmetic
/// with the reply's members but its time can overflow.
std::string nonsense_in(const Reply& reply, const Command& command, const Problem& problem);

/// Returns "" for a time that a call of the kernel can have taken, else what makes no sense in it. `seen`: what passed
/// by the parent's clock between the command and the reply, which both lie outside of what the child measures.
std::string nonsense_in_time(double claimed, double seen);

} // namespace tessera::judge
