#pragma once

/// The peers of a race: Tessera's backends and other libraries.

#include <memory>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

namespace tessera::bench {

class Peer {
 public:
  virtual ~Peer() = default;
  virtual const std::string& name() const = 0;
  /// Returns why the peer cannot run this call; empty if it can.
  virtual std::string problem(const GemmCall& call) = 0;
  /// Computes the call through the peer's public interface, with call.threads threads.
  virtual void multiply(const GemmCall& call) = 0;
};

/// Returns Tessera's processor backends that exist here, then the libraries: `libraries`, which are files, or if there
/// are none the usual libraries where the linker finds them. Throws InvalidArgument if a file cannot be used.
std::vector<std::unique_ptr<Peer>> make_peers(const std::vector<std::string>& libraries);

} // namespace tessera::bench
