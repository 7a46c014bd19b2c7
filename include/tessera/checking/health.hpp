#pragma once

/// Is this machine sound? Each core by itself, all cores at once, the memory and each backend compute products,
/// reductions and fills whose bits are known, and every bit is compared.
///
///     const HealthReport report = health({.seconds = 10});
///     if (!report.sound()) std::cout << to_text(report);     // core, backend, mode and element
///
/// The bits are the contract's (docs/contract.md). libtessera computes them once on the machine, and compares them with
/// digests that it brings along, so that a machine whose cores all agree on wrong bits is found too. Kernels that have
/// no contract for their bits take no part. A processor runs with the instruction set that the process uses;
/// `tessera_info --health` runs the lesser ones, too. docs/health.md has the details.
///
/// Source: P. Hochschild and others, "Cores that don't count" (HotOS 2021): a core that computes wrongly does so alone,
/// seldom, and for some instructions and data.

#include <cstdint>
#include <string>
#include <vector>

#include <tessera/backend_list.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The choices of a caller.
struct HealthOptions {
  double seconds = 60;                ///< after this time no test begins; a first short round is always whole
  std::vector<Backend> backends = {}; ///< which are tested; none: every available one
};

/// A test whose bits differed, at one place of the machine.
struct HealthFinding {
  std::string backend;     ///< the backend's word
  std::string device;      ///< the processor's or GPU's own name
  int core = -1;           ///< the number of the processor core; −1: no single core, as on a device
  bool at_once = false;    ///< all cores were at work; else this one alone
  std::string test;        ///< "product f32 strict 97x83x1100"
  std::string kernel;      ///< the kernel that computed; empty: the backend's choice
  std::int64_t row = -1;   ///< of the first element that differed; −1: the whole result, by its digest
  std::int64_t col = -1;   ///< of that element
  std::string found;       ///< its bits, as hexadecimal digits
  std::string expected;    ///< the bits that it should have
  std::uint64_t runs = 0;  ///< of this test at this place
  std::uint64_t wrong = 0; ///< of these, runs with an element that differed or that failed
};

/// A backend that could not be tested.
struct HealthGap {
  std::string backend; ///< the backend's word
  std::string reason;  ///< why not
};

/// What was tested, and what differed.
struct HealthReport {
  std::vector<HealthFinding> findings; ///< none: the machine is sound
  std::vector<HealthGap> gaps;         ///< backends and cores that could not be tested
  std::vector<std::string> backends;   ///< that were tested
  std::vector<int> cores;              ///< that were tested
  std::uint64_t rounds = 0;            ///< that were whole
  std::uint64_t runs = 0;              ///< of tests
  double seconds = 0;                  ///< that it took

  /// Were all bits right?
  bool sound() const noexcept { return findings.empty(); }
};

/// Tests the machine. Uses every core that the process may use. Throws InvalidArgument for a negative time, what
/// executor() throws for a backend that is named, and OutOfMemory.
TESSERA_API HealthReport health(const HealthOptions& options = {});

/// Returns the report in lines for people.
TESSERA_API std::string to_text(const HealthReport& report);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
