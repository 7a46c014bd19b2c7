#pragma once

/// The judged function, behind one interface for all ABIs.

#include <memory>
#include <string>

#include <tessera/backend/kernel.hpp>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {

class Entry {
 public:
  virtual ~Entry() = default;
  /// Returns why the kernel does not take the call; null if it does.
  virtual const char* reject(const GemmCall&) const { return nullptr; }
  /// Runs the kernel and returns its status; 0 for an ABI without one. Exceptions from the kernel pass through.
  virtual int run(const GemmCall& call, void* stream) const = 0;
};

/// Opens the library and finds the function of the ABI. On failure it returns null, and `reply` says what is missing.
std::unique_ptr<Entry> open_entry(const std::string& path, Abi abi, DType type, Reply& reply);

} // namespace tessera::judge
