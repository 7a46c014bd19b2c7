#pragma once

/// What the lens saw, by lines of the source.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "places.hpp"
#include "question.hpp"

namespace tessera::lens {

/// The request of a line that took the most sectors or wavefronts: the bytes from the array's beginning at which each
/// lane accesses `size` bytes; none: the lane takes no part.
struct Sample {
  unsigned size = 0;
  int cost = 0; ///< sectors or wavefronts
  std::array<std::optional<std::int64_t>, 32> offset;
};

/// The accesses of one kind that a line makes to one array.
struct LineAccess {
  Place place;
  std::string access; ///< "global load", "global store", "global atomic", "shared load", …
  std::string array;
  std::uint64_t requests = 0, sectors = 0, wavefronts = 0, lanes = 0;
  std::uint64_t bytes_asked = 0, bytes_moved = 0;
  std::array<std::uint64_t, 32> banks{}; ///< words that each bank delivered
  Sample sample;

  bool is_shared() const { return access.compare(0, 6, "shared") == 0; }
  double sectors_per_request() const { return static_cast<double>(sectors) / static_cast<double>(requests); }
  double wavefronts_per_request() const { return static_cast<double>(wavefronts) / static_cast<double>(requests); }
};

struct Branch {
  Place place;
  std::uint64_t times = 0;
};

struct LaunchReport {
  std::string name;
  int line = 0;
  std::array<unsigned, 3> grid{}, block{};
  std::uint64_t shared_bytes = 0, times = 1, barriers = 0, divergent_branches = 0;
  std::vector<Branch> branches; ///< that diverged
  std::vector<LineAccess> lines;
};

struct FindingReport {
  std::string
      kind; ///< "race", "uninitialised", "out_of_bounds", "misaligned", "barrier_divergence", "launch_failed", …
  Place place, other;
  std::uint64_t times = 1;
  std::string message;
};

/// How often requests touched the sectors of a matrix, as a grid of at most 64×64 fields over its stored rows.
struct Heat {
  std::string array;
  std::int64_t rows = 0, columns = 0; ///< of the matrix as it is stored
  std::vector<std::vector<double>> requests_of_a_sector;
};

struct Report {
  Question question;
  Source source;
  std::vector<LaunchReport> launches;
  std::vector<FindingReport> findings;
  std::vector<Heat> heat;
  std::string product; ///< "right", or what is wrong with it; empty: it was not looked at
  std::string ended;   ///< why the run did not come to its end; empty: it did
  std::string output;  ///< what the kernel's code printed

  bool well() const { return findings.empty() && product == "right" && ended.empty(); }
};

/// What the lens does not say, a sentence each.
const std::vector<std::string>& not_said();

class Program;

/// Compiles the kernel, runs it and reports. Throws InvalidArgument, IoError and CompileError.
Report look(const Question& question);
/// Runs a kernel that is compiled. A program may be asked several times.
Report look(const Program& program, const Source& source, const Question& question);

} // namespace tessera::lens
