#pragma once

/// What products of real and of complex numbers are checked for alike.

#include <tessera/executor.hpp>

namespace tessera {

/// Sizes, leading dimensions, null pointers, overflow and aliasing, with elements of so many bytes. The call's types
/// are not looked at; any op but None is a transpose.
Status check_shapes(const GemmCall& call, std::size_t element, std::size_t result);

} // namespace tessera
