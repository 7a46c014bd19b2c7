#pragma once

/// What threads exchange at barriers, and copies that a thread has started and not waited for.

#include "thread.hpp"

namespace tessera::lens {

/// Makes what the threads of the block have brought to their barrier readable after it.
void publish_given(int count);
/// Forgets copies that a thread has started.
void drop_async_copies(const Thread& thread);

} // namespace tessera::lens
