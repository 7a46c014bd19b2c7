#pragma once

/// The highest rates of the machine. They are measured once, kept in a file (ceiling_file.hpp) and looked up from then
/// on.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tessera/backend.hpp>

namespace tessera::apps {

struct CacheLevel {
  int level = 0;
  std::size_t bytes = 0; ///< of the caches of as many cores as there are threads
  double bytes_per_second = 0;
  bool operator==(const CacheLevel&) const = default;
};

/// Ceilings of the processor or of a device, for one element type, math mode and number of threads.
struct CeilingEntry {
  std::string device; ///< "cpu" for every host backend; otherwise the name of the device's backend
  DType type = DType::F32;
  Math math = Math::Strict;
  int threads = 0; ///< 0 for a device
  double flops = 0;
  double bytes_per_second = 0;         ///< of memory
  std::vector<CacheLevel> caches;      ///< nearest first
  std::map<std::string, double> peaks; ///< flops of each instruction set

  /// Returns the bandwidth of the nearest level that holds `bytes` bytes, in bytes per second; 0 if none was measured.
  double bandwidth_of(double bytes) const;
  /// Raises each number to that in `other` if it is higher: a disturbance can only lower a measurement.
  void raise(const CeilingEntry& other);
  /// Raises the bandwidths alone, which do not depend on the type and the mode.
  void raise_bandwidths(const CeilingEntry& other);
  bool same_place(const CeilingEntry& other) const {
    return device == other.device && type == other.type && math == other.math && threads == other.threads;
  }
  bool operator==(const CeilingEntry&) const = default;
};

nlohmann::ordered_json to_json(const CeilingEntry& entry);

/// All functions may be called from any thread.
class CeilingTable {
 public:
  /// `backends`: the backends that may be measured; the host backends among them share the processor. `measure`:
  /// measure even if the file has the entry. `program`: the program's name, which precedes messages on stderr.
  CeilingTable(std::vector<Backend> backends, bool measure, std::string program);

  /// Returns the entry as found earlier in this run, or read from the file, or measured now. On the processor each host
  /// backend measures, and the highest numbers count. The numbers are 0 if the executor measures nothing.
  CeilingEntry find(Backend backend, DType type, Math math, int threads);
  /// Measures once more and keeps the higher of each number. It measures an entry once a run; later calls act as
  /// find().
  CeilingEntry find_again(Backend backend, DType type, Math math, int threads);

  /// Returns the entries that were found in this run.
  std::vector<CeilingEntry> entries() const;
  nlohmann::ordered_json to_json() const;

 private:
  struct Known {
    CeilingEntry entry;
    bool fresh = false; ///< measured in this run
  };
  Known* known(const CeilingEntry& place);
  CeilingEntry measure(Backend backend, const CeilingEntry& place) const;
  CeilingEntry keep(Backend backend, const CeilingEntry& entry);
  /// Prints a line to stderr, the first time. The caller holds the lock.
  void complain(const std::string& line);

  const std::vector<Backend> backends_;
  const bool measure_;
  const std::string program_;
  mutable std::mutex mutex_;
  std::vector<Known> known_;
  bool complained_ = false; ///< the message about a file that cannot be read or written was printed
};

} // namespace tessera::apps
