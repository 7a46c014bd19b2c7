#pragma once

/// What the machine can do at most: measured once, kept in a file, and looked up from then on.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>

namespace tessera::apps {

struct CacheLevel {
  int level = 0;
  std::size_t bytes = 0; ///< of as many cores as there are threads
  double bytes_per_second = 0;
  bool operator==(const CacheLevel&) const = default;
};

/// Ceilings of the processor ("cpu", whatever backend) or of a device (its backend's name).
struct CeilingRow {
  std::string device;
  DType type = DType::F32;
  Math math = Math::Strict;
  int threads = 0; ///< 0: not on the processor
  double flops = 0;
  double bytes_per_second = 0;         ///< of memory
  std::vector<CacheLevel> caches;      ///< nearest first
  std::map<std::string, double> peaks; ///< flops of each instruction set

  /// Bandwidth of the nearest level that holds so much; 0 if none was measured.
  double bandwidth_of(double bytes) const;
  /// Takes the higher of each number: whatever disturbs a measurement makes it lower.
  void raise(const CeilingRow& other);
  /// The same of bandwidths alone, which the type and the mode do not change.
  void raise_bandwidths(const CeilingRow& other);
  bool same_place(const CeilingRow& other) const {
    return device == other.device && type == other.type && math == other.math && threads == other.threads;
  }
  bool operator==(const CeilingRow&) const = default;
};

nlohmann::ordered_json to_json(const CeilingRow& row);

/// All functions may be called from any thread.
class CeilingTable {
 public:
  /// `backends`: those that may be measured, and which of them share the processor. `measure`: whatever the file
  /// says. `program`: whose name stands before what is said on stderr.
  CeilingTable(std::vector<Backend> backends, bool measure, std::string program);

  /// From this run, the file, or measured now: on the processor by each of its backends, of which the highest counts.
  /// Zeros where the executor measures nothing.
  CeilingRow find(Backend backend, DType type, Math math, int threads);
  /// Measured once more, and the higher of each number. Once a run: later calls are find().
  CeilingRow find_again(Backend backend, DType type, Math math, int threads);

  /// What was found in this run.
  std::vector<CeilingRow> rows() const;
  nlohmann::ordered_json to_json() const;

 private:
  struct Known {
    CeilingRow row;
    bool fresh = false; ///< measured in this run
  };
  Known* known(const CeilingRow& place);
  CeilingRow measure(Backend backend, const CeilingRow& place) const;
  CeilingRow keep(Backend backend, const CeilingRow& row);

  const std::vector<Backend> backends_;
  const bool measure_;
  const std::string program_;
  mutable std::mutex mutex_;
  std::vector<Known> known_;
  bool complained_ = false; ///< about the file
};

} // namespace tessera::apps
