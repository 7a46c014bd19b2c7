#pragma once

/// The judged function, behind one call whatever its ABI.

#include <memory>
#include <string>

#include <tessera/backend/kernel.hpp>

#include "judge/channel.hpp"

namespace tessera::judge {

class Entry {
 public:
  virtual ~Entry() = default;
  /// Null, or why the kernel does not take the call.
  virtual const char* reject(const GemmCall&) const { return nullptr; }
  /// What the kernel returned; 0 for those that return nothing. Exceptions of the kernel's pass through.
  virtual int run(const GemmCall& call, void* stream) const = 0;
};

/// On failure `entry` is null, and the reply says what is missing.
std::unique_ptr<Entry> open_entry(const std::string& path, Abi abi, DType type, Reply& reply);

} // namespace tessera::judge
