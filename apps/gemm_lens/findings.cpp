#include "findings.hpp"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tessera::lens {
namespace {

using Json = nlohmann::json;

std::string index_text(const Json& index) {
  const auto x = index[0].get<unsigned>(), y = index[1].get<unsigned>(), z = index[2].get<unsigned>();
  if (z != 0) return fmt::format("({}, {}, {})", x, y, z);
  return fmt::format("({}, {})", x, y);
}

std::string who(const Json& finding) {
  return fmt::format("thread {} of block {}", index_text(finding["thread"]), index_text(finding["block"]));
}

const char* verb(const Json& access) {
  if (access == "load") return "reads";
  return access == "atomic" ? "updates" : "writes";
}

/// Names the byte `offset` of an array: an element of a matrix, or of any other array.
std::string element_text(const Json& finding, const Json& run) {
  const std::string array = finding["array"];
  const auto offset = finding["offset"].get<std::int64_t>();
  for (const Json& known : run["arrays"])
    if (known["name"] == array && offset >= 0) {
      const auto index = offset / known["element"].get<std::int64_t>(), ld = known["ld"].get<std::int64_t>();
      return fmt::format("{}({}, {})", array, index / ld, index % ld);
    }
  const auto size = finding["size"].get<std::int64_t>();
  if (size > 0 && offset % size == 0) return fmt::format("element {} of {}", offset / size, array);
  return fmt::format("byte {} of {}", offset, array);
}

std::string race(const Json& finding, const Json& run, const Place& other, const std::string& file) {
  const bool stores = finding["access"] != "load", other_stores = finding["other_stores"];
  const std::string where = name_of(other, file);
  const std::string other_thread = finding["other_block"].get<bool>() ? "a thread of another block" : "another thread";
  return fmt::format("{} {} {}, which {} {} at {}, and no barrier is between them{}", who(finding),
                     verb(finding["access"]), element_text(finding, run), other_thread,
                     other_stores ? "has written" : "has read", where,
                     finding["other_block"].get<bool>() ? ": blocks of a launch cannot wait for one another"
                     : stores && !other_stores          ? ": is __syncthreads() missing before the write?"
                                                        : ": is __syncthreads() missing after the write?");
}

std::string out_of_bounds(const Json& finding, const Json& run) {
  const std::string detail = finding["detail"], array = finding["array"];
  const auto bytes = finding["array_bytes"].get<std::int64_t>(), offset = finding["offset"].get<std::int64_t>();
  if (detail == "copy" || detail == "memset")
    return fmt::format(
        "{} of {} bytes does not lie in one allocation of the GPU's memory, or names the wrong direction",
        detail == "copy" ? "a cudaMemcpy" : "a cudaMemset", bytes);
  if (detail == "freed")
    return fmt::format("{} {} {}, which has been freed", who(finding), verb(finding["access"]), array);
  if (detail == "fault")
    return fmt::format("{} {} address {:#x}, where there is no memory", who(finding), verb(finding["access"]), offset);
  if (array.empty())
    return fmt::format("{} {} address {:#x}, which is not the GPU's memory; is it a pointer of the host?", who(finding),
                       verb(finding["access"]), offset);
  const auto size = finding["size"].get<std::int64_t>();
  const std::string distance =
      offset < 0        ? fmt::format("{} bytes before its beginning", -offset)
      : offset >= bytes ? (offset == bytes ? "just past its end" : fmt::format("{} bytes past its end", offset - bytes))
                        : "across its end";
  for (const Json& known : run["arrays"])
    if (known["name"] == array) {
      const auto element = known["element"].get<std::int64_t>();
      return fmt::format(
          "{} {} element {} of {}, which has {} elements: {}; is a guard (row < M, column < N, p < K) "
          "missing?",
          who(finding), verb(finding["access"]),
          static_cast<std::int64_t>(std::floor(static_cast<double>(offset) / static_cast<double>(element))), array,
          bytes / element, distance);
    }
  return fmt::format("{} {} {} bytes at byte {} of {}, which has {} bytes: {}", who(finding), verb(finding["access"]),
                     size, offset, array, bytes, distance);
}

std::string message_of(const Json& finding, const Json& run, const Place& other, const std::string& file) {
  const std::string kind = finding["kind"], detail = finding["detail"];
  if (kind == "race") return race(finding, run, other, file);
  if (kind == "out_of_bounds") return out_of_bounds(finding, run);
  if (kind == "uninitialised")
    return fmt::format("{} reads {}, which no thread of the block has written", who(finding),
                       element_text(finding, run));
  if (kind == "misaligned")
    return fmt::format("{} {} {} bytes at {}, which is no multiple of {}; a GPU ends the kernel there", who(finding),
                       verb(finding["access"]), finding["size"].get<int>(), element_text(finding, run),
                       finding["size"].get<int>());
  if (kind == "barrier_divergence") {
    if (detail == "threads have ended")
      return fmt::format(
          "{} waits at this barrier, and thread {} of the block has ended without it; let threads that "
          "have nothing to do skip the work, not the barrier",
          who(finding), index_text(finding["other_thread"]));
    if (detail == "threads wait at different barriers")
      return fmt::format(
          "{} waits at this barrier, and thread {} at {}; all threads of a block must come to the same "
          "__syncthreads()",
          who(finding), index_text(finding["other_thread"]), name_of(other, file));
    return fmt::format("{} waits here for the threads of its mask: the {}", who(finding), detail);
  }
  return detail; // launch_failed
}

} // namespace

std::string name_of(const Place& place, const std::string& kernel_file) {
  if (place.line == 0) return "an unknown line";
  if (place.file == kernel_file) return fmt::format("line {}", place.line);
  return fmt::format("line {} of {}", place.line, std::filesystem::path(place.file).filename().string());
}

FindingReport finding_of(const Json& finding, const Json& run, const Place& place, const Place& other,
                         const std::string& kernel_file) {
  return {finding["kind"], place, other, finding["times"], message_of(finding, run, other, kernel_file)};
}

std::string end_of(const Json& run, const Place& place, const Question& question) {
  const std::string ended = run["ended"], detail = run["detail"];
  const std::string where = place.line == 0 ? std::string()
                                            : fmt::format(" at line {} of {}", place.line,
                                                          std::filesystem::path(place.file).filename().string());
  if (ended.empty()) return {};
  if (ended == "time_limit")
    return fmt::format("it did not end within {} s; it was{}. Does a loop never end? A smaller --shape takes less time",
                       question.seconds, where.empty() ? " in code without accesses to memory" : where);
  if (ended == "fault") return "it accessed an address where there is no memory" + where;
  if (ended == "stack") return "a thread has more than 256 KiB of local memory, or calls itself without end" + where;
  if (ended == "signal") return fmt::format("it was ended by a signal ({}){}", detail, where);
  if (ended == "exit") return "it called exit()" + where;
  if (ended == "exception") return "it threw an exception" + (detail.empty() ? detail : ": " + detail);
  if (ended == "deadlock") return "threads of a warp wait for one another for ever" + where;
  if (ended == "ptx")
    return fmt::format("it came to an instruction of PTX, which the lens does not run{}: {}", where, detail);
  if (ended == "launch_in_kernel") return "a kernel launched a kernel, which the lens does not run" + where;
  if (ended == "no_memory")
    return "the operands are more than the lens' GPU holds (1 GiB); its counters follow from a small --shape as well";
  return detail; // rejected
}

} // namespace tessera::lens
