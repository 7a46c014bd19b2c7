#pragma once

/// The tests of a machine's health: what is computed, and the bits that it has to have.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/executor.hpp>

namespace tessera::health_check {

enum class ProbeKind { Product, Reduction, Fill };

/// How much time a test takes: short ones are in the first round, also where there are many cores.
enum class Weight { Short, Middle, Large };

/// One test. The digest of the right bits is known, wherever they are computed.
struct Probe {
  ProbeKind kind = ProbeKind::Product;
  Weight weight = Weight::Short;
  DType type = DType::F32;
  Math math = Math::Strict;
  GemmShape shape = {}; ///< of other tests than products m and n are the rows and columns
  ReduceOp reduction = ReduceOp::SumOfSquares;
  Distribution fill = Distribution::Uniform;
  std::uint64_t digest = 0;

  std::string name() const;
  /// Returns the rows and columns of the result.
  Index rows() const { return kind == ProbeKind::Reduction ? 1 : shape.m; }
  Index cols() const { return kind == ProbeKind::Reduction ? 1 : shape.n; }
  std::size_t element() const { return kind == ProbeKind::Reduction ? sizeof(double) : size_of(type); }
  std::size_t result_bytes() const { return static_cast<std::size_t>(rows() * cols()) * element(); }
};

/// Returns the tests, the short ones first.
std::span<const Probe> probes();

/// Returns a number that any change of the bytes changes almost surely.
std::uint64_t digest_of(std::span<const char> bytes);

/// Returns the names of the executor's kernels that this test runs; "" is the one that the executor chooses. All keep
/// the contract of their bits.
std::vector<std::string> kernels_for(const Probe& probe, Executor& executor);

/// The operands of a test, and its right result.
struct Problem {
  const Probe* probe = nullptr;
  std::vector<char> a, b, expected;
};

/// Makes the operands and computes the result with the reference, on the calling thread. Throws what it throws.
Problem problem_of(const Probe& probe);

/// Where a run differs.
struct Difference {
  Index elements = 0; ///< that differ
  Index row = -1, col = -1;
  std::string found, expected; ///< bits of the first one; `found` is the reason where the run failed
  bool any() const { return elements > 0; }
};

/// Runs the test on an executor, with operands in its memory, and compares the result. `result` has room for it.
/// Returns false where the executor has no kernel for it, which is no difference. `cold`: operands leave the caches
/// before it, where the processor has an instruction for that.
bool run(const Problem& problem, Executor& executor, Queue& queue, std::string_view kernel, int threads, bool cold,
         std::span<char> result, Difference& difference);

} // namespace tessera::health_check
