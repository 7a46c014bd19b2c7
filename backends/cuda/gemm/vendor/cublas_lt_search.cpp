#include "cublas_lt_search.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/detail/number_text.hpp>

#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr int longest_list = 8;
constexpr int timed_rounds = 3;
constexpr double round_seconds = 1e-3; ///< a kernel whose runs are shorter is repeated to fill this time in a round
constexpr int most_runs = 10;

struct Candidate {
  cublasLtMatmulAlgo_t algorithm;
  int runs = 1; ///< runs in a round
  double seconds = std::numeric_limits<double>::infinity();
};

/// Asks cuBLASLt for the kernels that it would try, in the order in which it recommends them.
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
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{b}); // A and B change places
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{a});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, std::uint32_t{c});
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, std::uint32_t{c});
  if (size_of(key.result) == 2) // partial sums are never rounded to 16 bits; the kernels of cuBLAS exclude it, too
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
    return {StatusCode::Rejected, "cuBLASLt's heuristics list has no kernel for this product; use the kernel cublas"};
  return {};
}

/// Allocates a C for the trials, as aligned as the call's C, and clears it if the product reads it.
Status scratch_result(const LtKey& key, const GemmCall& call, Executor& executor, Queue& queue, Scratch& memory,
                      void*& c) {
  constexpr std::size_t alignment = 256;
  const auto elements = static_cast<std::size_t>((key.shape.m - 1) * key.ldc + key.shape.n);
  const std::size_t bytes = elements * size_of(key.result) + alignment;
  if (Status status = memory.allocate(executor, queue, bytes); !status.ok()) return status;
  c = memory.as<char>() + reinterpret_cast<std::uintptr_t>(call.c) % alignment;
  if (!key.reads_c) return {};
  return check(cudaMemsetAsync(memory.data(), 0, bytes, stream_of(queue)), "clearing a result to try kernels on");
}

/// The runs of candidates for one product, timed on the call's queue.
class Trials {
 public:
  Trials(cublasLtHandle_t handle, const LtProduct& product, const LtCall& call, Executor& executor, Queue& queue,
         void* workspace)
      : handle_(handle), product_(product), call_(call), executor_(executor), queue_(queue), workspace_(workspace) {}

  /// Allocates a C for the trials and creates the events. It comes before time().
  Status prepare(const LtKey& key) {
    if (Status status = scratch_result(key, call_.gemm, executor_, queue_, memory_, c_); !status.ok()) return status;
    if (Status status = executor_.create_event(start_); !status.ok()) return status;
    return executor_.create_event(stop_);
  }
  /// Measures the seconds of `runs` runs of a candidate, and waits for them.
  Status time(const Candidate& candidate, int runs, double& seconds) {
    if (Status status = start_->record(queue_); !status.ok()) return status;
    for (int run = 0; run < runs; ++run)
      if (Status status = multiply(candidate); !status.ok()) return status;
    if (Status status = stop_->record(queue_); !status.ok()) return status;
    return stop_->seconds_since(*start_, seconds);
  }

 private:
  Status multiply(const Candidate& candidate) {
    const CublasLtLibrary& library = CublasLtLibrary::instance();
    return library.check(
        library.matmul(handle_, product_.description.get(), call_.alpha, call_.gemm.b, product_.b.get(), call_.gemm.a,
                       product_.a.get(), call_.beta, c_, product_.c.get(), c_, product_.c.get(), &candidate.algorithm,
                       workspace_, lt_workspace_bytes, stream_of(queue_)),
        "cublasLtMatmul");
  }

  cublasLtHandle_t handle_;
  const LtProduct& product_;
  const LtCall& call_;
  Executor& executor_;
  Queue& queue_;
  void* workspace_;
  Scratch memory_;
  void* c_ = nullptr;
  std::unique_ptr<Event> start_, stop_;
};

/// Removes the candidates that do not run, and decides how often each of the others runs in a round. Returns the last
/// error if none is left.
Status try_each(Trials& trials, std::vector<Candidate>& candidates) {
  Status refused;
  std::erase_if(candidates, [&](Candidate& candidate) {
    double seconds = 0;
    for (int trial = 0; trial < 2; ++trial) // the first run loads the kernel
      if (Status status = trials.time(candidate, 1, seconds); !status.ok()) {
        refused = std::move(status);
        return true;
      }
    candidate.runs = static_cast<int>(std::clamp(round_seconds / std::max(seconds, 1e-9), 1.0, double{most_runs}));
    return false;
  });
  return candidates.empty() ? refused : Status{};
}

/// Times all candidates in rounds; the fastest round of each counts.
Status time_rounds(Trials& trials, std::vector<Candidate>& candidates) {
  for (int round = 0; round < timed_rounds; ++round)
    for (Candidate& candidate : candidates) {
      double seconds = 0;
      if (Status status = trials.time(candidate, candidate.runs, seconds); !status.ok()) return status;
      candidate.seconds = std::min(candidate.seconds, seconds / candidate.runs);
    }
  return {};
}

void log_choice(const std::vector<Candidate>& candidates, std::size_t fastest) {
  if (!log_dispatch()) return;
  char line[160];
  std::snprintf(line, sizeof line, "cublas_lt: number %d of %d kernels is the fastest, %s µs; the first: %s µs",
                static_cast<int>(fastest) + 1, static_cast<int>(candidates.size()),
                tessera::detail::general_text(candidates[fastest].seconds * 1e6, 4).c_str(),
                tessera::detail::general_text(candidates.front().seconds * 1e6, 4).c_str());
  log_line(line);
}

} // namespace

Status find_fastest(cublasLtHandle_t handle, const LtKey& key, Executor& executor, Queue& queue, const LtCall& call,
                    void* workspace, LtProduct& product) {
  std::vector<Candidate> candidates;
  if (Status status = ask(handle, key, product, candidates); !status.ok()) return status;
  Trials trials(handle, product, call, executor, queue, workspace);
  if (Status status = trials.prepare(key); !status.ok()) return status;
  if (Status status = try_each(trials, candidates); !status.ok()) return status;
  if (Status status = time_rounds(trials, candidates); !status.ok()) return status;
  const auto fastest = std::min_element(candidates.begin(), candidates.end(),
                                        [](const auto& x, const auto& y) { return x.seconds < y.seconds; });
  product.algorithm = fastest->algorithm;
  log_choice(candidates, static_cast<std::size_t>(fastest - candidates.begin()));
  return {};
}

} // namespace tessera::cuda
