#pragma once

/// What verified products have in common that are computed again where they are wrong.

#include <cstddef>
#include <memory>
#include <string>

#include <tessera/gemm.hpp>

namespace tessera::verify {

constexpr int most_repairs = 3; ///< of one result, before the machine is believed to be broken

/// Returns how often a wrong result is computed again.
inline int repairs_of(Verify verify) { return verify == Verify::Repair ? most_repairs : 0; }

/// Numbers in memory that the product has for itself.
using HostCopy = std::unique_ptr<char, void (*)(void*) noexcept>;
/// Returns memory for them. Throws HostMemoryShort.
HostCopy room_for(std::size_t bytes, const char* purpose);

/// Returns " (backend …)", which stands where a message has said what is wrong, and what ends it.
std::string on_backend(const Executor& executor);
std::string end_of_alarm(Verify verify);

} // namespace tessera::verify
