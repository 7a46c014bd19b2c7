#include "parts.hpp"

#include <exception>

#include <tessera/executor.hpp>

#include "core/placement/placement.hpp"

namespace tessera::vectors {
namespace {

/// The host's executor; null where it cannot be made, for want of memory or because the environment names none.
Executor* host() noexcept try { return &place_elementwise({}); } catch (const std::exception&) {
  return nullptr;
}

} // namespace

void run_parts(const PartsLoop& loop) noexcept {
  Executor* const executor = host();
  if (executor == nullptr) return loop.body(loop.context, 0, loop.count);
  RangeCall call;
  call.count = loop.count;
  call.grain = loop.grain;
  call.body = loop.body;
  call.context = loop.context;
  throw_if_failed(executor->run_range(executor->default_queue(), call)); // a host's loop does not fail
}

} // namespace tessera::vectors
