#include "cublas_lt_search.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <tessera/backend/log.hpp>

#include "cuda/device/status.hpp"
#include "cuda/memory/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int longest_list = 8;
constexpr int timed_rounds = 3;
constexpr double round_seconds = 1e-3; ///< of one kernel in one round, where its runs are shorter
constexpr int most_runs = 10;

struct Candidate {
  cublasLtMatmulAlgo_t algorithm;
  int runs = 1; ///< in a round
  double seconds = std::numeric_limits<double>::infinity();
};

/// The kernels that cuBLASLt would try, in the order that it recommends.
Status ask(cublasLtHandle_t handle, const LtKey& key, const LtProduct& product, std::vector<Candidate>& candidates) {
  const CublasLtLibrary& library = CublasLtLibrary::instance();
  cublasLtMatmulPreference_t made = nullptr;
  Status status = library.check(library.create_preference(&made), "cublasLtMatmulPreferenceCreate");
  if (!status.ok()) return status;
  const LtOwner<cublasLtMatmulPreference_t> preference(made);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
    if (status.ok())
      status = library.check(library.set_preference(made, attribute, &value, sizeof value),
                             "cublasLtMatmulPreferenceSetAttribute");
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{lt_workspace_bytes});
  const auto [a, b, c] = key.alignment;
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{b}); // the operands change places
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{a});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t{c});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t{c});
  if (size_of(key.result) == 2) // parts of a sum are never rounded to 16 bits, as in the rows of cuBLAS
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  if (!status.ok()) return status;
  cublasLtMatmulHeuristicResult_t list[longest_list] = {};
  int count = 0;
  status = library.check(library.heuristic(handle, product.description.get(), product.b.get(), product.a.get(),
                                           product.c.get(), product.c.get(), made, longest_list, list, &count),
                         "cublasLtMatmulAlgoGetHeuristic");
  if (!status.ok()) return status;
  for (const auto& entry : std::span(list).first(static_cast<std::size_t>(count)))
    if (entry.state == CUBLAS_STATUS_SUCCESS && entry.workspaceSize <= lt_workspace_bytes)
      candidates.push_back({.algorithm = entry.algo});
  if (candidates.empty())
    return {StatusCode::Rejected, "cuBLASLt's heuristics list has no kernel for this product; use row cublas"};
  return {};
}

/// A C for the trials, as aligned as the call's; zero if it is read.
Status scratch_result(const LtKey& key, const GemmCall& call, Executor& executor, Queue& queue, Scratch& memory,
                      void*& c) {
  constexpr std::size_t alignment = 256;
  const auto elements = static_cast<std::size_t>((key.m - 1) * key.ldc + key.n);
  const std::size_t bytes = elements * size_of(key.result) + alignment;
  if (Status status = memory.allocate(executor, queue, bytes); !status.ok()) return status;
  c = memory.as<char>() + reinterpret_cast<std::uintptr_t>(call.c) % alignment;
  if (!key.reads_c) return {};
  return check(cudaMemsetAsync(memory.data(), 0, bytes, stream_of(queue)), "clearing a result to try kernels on");
}

} // namespace

Status find_fastest(cublasLtHandle_t handle, const LtKey& key, Executor& executor, Queue& queue, const LtCall& call,
                    void* workspace, LtProduct& product) {
  const CublasLtLibrary& library = CublasLtLibrary::instance();
  std::vector<Candidate> candidates;
  if (Status status = ask(handle, key, product, candidates); !status.ok()) return status;
  Scratch memory;
  void* c = nullptr;
  if (Status status = scratch_result(key, call.gemm, executor, queue, memory, c); !status.ok()) return status;
  std::unique_ptr<Event> start, stop;
  if (Status status = executor.create_event(start); !status.ok()) return status;
  if (Status status = executor.create_event(stop); !status.ok()) return status;

  const cudaStream_t stream = stream_of(queue);
  Status refused;
  const auto time = [&](const Candidate& candidate, int runs, double& seconds) -> Status {
    if (Status status = start->record(queue); !status.ok()) return status;
    for (int run = 0; run < runs; ++run)
      if (Status status = library.check(
              library.matmul(handle, product.description.get(), call.alpha, call.gemm.b, product.b.get(), call.gemm.a,
                             product.a.get(), call.beta, c, product.c.get(), c, product.c.get(), &candidate.algorithm,
                             workspace, lt_workspace_bytes, stream),
              "cublasLtMatmul");
          !status.ok())
        return status;
    if (Status status = stop->record(queue); !status.ok()) return status;
    return stop->seconds_since(*start, seconds);
  };

  // The first run loads a kernel, the second says how often it runs in a round.
  double seconds = 0;
  std::erase_if(candidates, [&](Candidate& candidate) {
    for (int trial = 0; trial < 2; ++trial)
      if (Status status = time(candidate, 1, seconds); !status.ok()) {
        refused = std::move(status);
        return true;
      }
    candidate.runs = static_cast<int>(std::clamp(round_seconds / std::max(seconds, 1e-9), 1.0, double{most_runs}));
    return false;
  });
  if (candidates.empty()) return refused;
  for (int round = 0; round < timed_rounds; ++round)
    for (Candidate& candidate : candidates) {
      if (Status status = time(candidate, candidate.runs, seconds); !status.ok()) return status;
      candidate.seconds = std::min(candidate.seconds, seconds / candidate.runs);
    }
  const auto fastest = std::min_element(candidates.begin(), candidates.end(),
                                        [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
  product.algorithm = fastest->algorithm;
  if (log_dispatch()) {
    char line[160];
    std::snprintf(line, sizeof line, "cublas_lt: number %d of %d kernels is the fastest, %.4g µs; the first: %.4g µs",
                  static_cast<int>(fastest - candidates.begin()) + 1, static_cast<int>(candidates.size()),
                  fastest->seconds * 1e6, candidates.front().seconds * 1e6);
    log_line(line);
  }
  return {};
}

} // namespace tessera::cuda
