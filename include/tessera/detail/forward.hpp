#pragma once

/// The exported classes that headers name before they are defined. A class has its mark (export.hpp) in its first
/// declaration and in no other before its definition.

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

class TESSERA_API Event;
class TESSERA_API ExecutionQueue;
class TESSERA_API Executor;
class TESSERA_API Queue;

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
