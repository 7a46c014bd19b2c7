#pragma once

/// Who takes part: Tessera's backends, other libraries, and a probe of what the machine can do.

#include <memory>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::bench {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual const std::string& name() const = 0;
  /// Why this call cannot be run; empty if it can.
  virtual std::string problem(const GemmCall& call) = 0;
  /// The product of the call, through the peer's own public interface, with call.threads threads.
  virtual void multiply(const GemmCall& call) = 0;
};

/// Tessera's processor backends that exist here, then the libraries: files, or those found where the linker looks.
/// Throws InvalidArgument where a file cannot be used.
std::vector<std::unique_ptr<Peer>> make_peers(const std::vector<std::string>& libraries);

} // namespace tessera::bench
