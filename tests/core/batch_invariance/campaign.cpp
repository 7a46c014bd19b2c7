/// The campaign of the contract of matrix units (docs/contract.md), for people to run: do rows of a product have the
/// same bits alone and in a batch?
///
///     tessera_batch_campaign --count 2000
///     tessera_batch_campaign --count 2000 --backend cuda --largest 16384 --work 1e10
///     tessera_batch_campaign --modes bf16 --first 1234 --count 1
///
/// A comparison draws m, n, k, a place, transposes, leading dimensions, addresses, alpha, beta, whether the neighbours
/// hold NaN and Inf or are products of a batch, and two kernels of the ladder that keep the contract, of any of the
/// executors. Without --backend those are the host's. With a GPU they are the GPU's, and a quarter of the rows are
/// computed alone by the host. Modes without a contract are compared within one kernel of the ladder,
/// and what differs is counted, but is no failure. The exit status is 0 if no bit differs, 1 if one does, and 77 if
/// the backend is not there and TESSERA_REQUIRE does not name it.

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <tessera/backend.hpp>
#include <tessera/executor.hpp>
#include <tessera/performance/tuning.hpp>

#include "support/subject.hpp"

#include "product.hpp"

namespace tessera::batch_invariance {
namespace {

/// A kernel of an executor's ladder; an empty name is the executor's own choice.
struct Candidate {
  Executor* executor;
  std::string kernel;

  std::string text() const {
    return fmt::format("{} {}", to_string(executor->capabilities().backend), kernel.empty() ? "(its choice)" : kernel);
  }
};

struct Counts {
  Index comparisons = 0, elements = 0, differing = 0, wrong = 0;
};

/// Which executors compute, and what is drawn.
struct Campaign {
  std::vector<Executor*> together, host;
  Limits limits;
  Index first = 1, count = 2000;
};

/// Does the kernel take products on this machine?
template <class T>
bool takes_products(const Candidate& candidate, Math math) {
  Comparison small(1, {.largest = 8, .work = 512, .elements = 512});
  return compute<T, float>(*candidate.executor, candidate.kernel, math, small, false).rejection.empty();
}

/// Returns the kernels of these executors that compute T's products in the mode. Executors choose among the kernels of
/// the contract themselves where they promise its bits.
template <class T>
std::vector<Candidate> candidates(const std::vector<Executor*>& executors, Math math, bool with_contract) {
  std::vector<Candidate> found;
  for (Executor* executor : executors) {
    const auto kernels = executor->gemm_kernels();
    for (const GemmKernel& kernel : kernels)
      if (kernel.type == dtype_of<T> && kernel.math == math &&
          (kernel.summation == Summation::HopperUnits) == with_contract)
        if (const Candidate candidate{executor, kernel.name}; takes_products<T>(candidate, math))
          found.push_back(candidate);
    if (with_contract && promises_bits(kernels, executor->capabilities(), dtype_of<T>, math))
      found.push_back({executor, ""});
  }
  return found;
}

/// The reference's kernel is a model, which takes each element alone: it computes small products.
bool is_for(const Candidate& candidate, const Comparison& x, bool together) {
  constexpr double most_work = 1 << 20;
  const double work =
      static_cast<double>(together ? x.m : x.rows) * static_cast<double>(x.n) * static_cast<double>(x.k);
  return candidate.executor->capabilities().backend != Backend::Reference || work <= most_work;
}

/// Computes with candidates from this place on until one takes the product. Returns the place of that one, or of any
/// where `answer` has a rejection.
template <class T, class R>
std::size_t compute_with_any(const std::vector<Candidate>& from, std::size_t place, Math math, const Comparison& x,
                             bool together, Answer<R>& answer) {
  for (std::size_t tries = 0; tries < from.size(); ++tries, ++place) {
    const Candidate& candidate = from[place % from.size()];
    if (from.size() > 1 && !is_for(candidate, x, together)) continue;
    answer = compute<T, R>(*candidate.executor, candidate.kernel, math, x, together);
    if (answer.rejection.empty()) return place % from.size();
  }
  return 0;
}

/// Returns the kernels that compute alone: where the batches are a GPU's, a quarter of them are the host's.
template <class T>
std::vector<Candidate> alone_candidates(const Campaign& campaign, Math math, const std::vector<Candidate>& together) {
  std::vector<Candidate> host = candidates<T>(campaign.host, math, true), all;
  if (together.front().executor->capabilities().host_memory || host.empty()) {
    all = together;
    all.insert(all.end(), host.begin(), host.end());
    return all;
  }
  while (all.size() < 3 * host.size()) all.insert(all.end(), together.begin(), together.end());
  for (std::size_t h = 0; h < all.size() / 3; ++h) host.push_back(host[h]);
  all.insert(all.end(), host.begin(), host.begin() + static_cast<std::ptrdiff_t>(all.size() / 3));
  return all;
}

/// Compares products of T with results of R, beginning with comparison number `first`.
template <class T, class R>
Counts compare(const Campaign& campaign, Math math, Index first, Index count) {
  std::vector<Candidate> together = candidates<T>(campaign.together, math, true);
  const bool has_contract = !together.empty();
  if (!has_contract) together = candidates<T>(campaign.together, math, false);
  const std::string types =
      fmt::format("{} of {} to {}", to_string(math), to_string(dtype_of<T>), to_string(dtype_of<R>));
  Counts all;
  if (together.empty()) {
    fmt::print("{}: no kernel takes products here\n", types);
    return all;
  }
  const std::vector<Candidate> alone = has_contract ? alone_candidates<T>(campaign, math, together) : together;
  for (Index number = first; number < first + count; ++number) {
    const Comparison x(static_cast<std::uint64_t>(number), campaign.limits);
    Random random(x.seed + 1);
    Answer<R> batch, own;
    const std::size_t place = compute_with_any<T>(together, random(), math, x, true, batch);
    // Without a contract the bits are one kernel's own, if anything's.
    std::size_t other = place;
    if (has_contract)
      other = compute_with_any<T>(alone, random(), math, x, false, own);
    else
      own = compute<T, R>(*together[place].executor, together[place].kernel, math, x, false);
    if (!batch.rejection.empty() || !own.rejection.empty()) {
      if (!has_contract) continue;
      throw KernelRejected(
          fmt::format("{}: no kernel takes --first {}: {}{}", types, number, batch.rejection, own.rejection));
    }
    Index differing = 0;
    for (std::size_t e = 0; e < own.rows.size(); ++e) differing += !conformance::same(own.rows[e], batch.rows[e]);
    ++all.comparisons;
    all.elements += static_cast<Index>(own.rows.size());
    all.differing += differing;
    if (differing == 0) continue;
    if (++all.wrong <= 10)
      fmt::print("{}: {} of {} elements differ with --first {}: {}×{}×{}, rows {} … {}{}, by {} and alone by {}\n",
                 types, differing, own.rows.size(), number, x.m, x.n, x.k, x.first, x.first + x.rows - 1,
                 x.in_batch ? " in a batch" : "", together[place].text(), alone[other].text());
  }
  fmt::print("{}: {} comparisons of {} elements, {} with differing bits{}\n", types, all.comparisons, all.elements,
             all.wrong, has_contract ? "" : " (no contract)");
  std::fflush(stdout);
  if (!has_contract) all.wrong = 0;
  return all;
}

/// Compares products of 16-bit operands, and of f32 operands that the mode rounds. `count` comparisons are shared out
/// among the types.
template <class T>
Index wrong_of_16_bits(const Campaign& campaign, Math math) {
  const Index third = campaign.count / 3, rest = campaign.count - 2 * third, second = campaign.first + rest;
  return compare<T, float>(campaign, math, campaign.first, rest).wrong +
         compare<T, T>(campaign, math, second, third).wrong +
         compare<float, float>(campaign, math, second + third, third).wrong;
}

/// Compares the mode's products.
Index wrong_of(const Campaign& campaign, Math math) {
  switch (math) {
    case Math::Bf16:
      return wrong_of_16_bits<bf16>(campaign, math);
    case Math::Fp16:
      return wrong_of_16_bits<f16>(campaign, math);
    default:
      return compare<float, float>(campaign, math, campaign.first, campaign.count).wrong;
  }
}

std::vector<Executor*> executors_of(const std::vector<Backend>& backends) {
  std::vector<Executor*> found;
  for (const Backend backend : backends) {
    try {
      found.push_back(&executor(backend));
    } catch (const BackendUnavailable& error) {
      if (conformance::required(backend)) throw;
      fmt::print("left out: {}\n", error.what());
    }
  }
  return found;
}

} // namespace
} // namespace tessera::batch_invariance

int main(int argc, char** argv) try {
  using namespace tessera;
  CLI::App app("Compares rows of products alone and in a batch", "tessera_batch_campaign");
  batch_invariance::Campaign campaign;
  std::vector<std::string> modes{"tf32", "bf16", "fp16", "emulated_fp16x3", "emulated_bf16x6", "scaled_fp16"};
  std::string named;
  app.add_option("--count", campaign.count, "Comparisons of each mode")->check(CLI::PositiveNumber);
  app.add_option("--first", campaign.first, "The first comparison's number, which is its seed");
  app.add_option("--modes", modes, "Math modes")->delimiter(',');
  app.add_option("--backend", named, "The backend that computes the batches; none: the host's");
  app.add_option("--largest", campaign.limits.largest, "The largest m, n and k")->check(CLI::PositiveNumber);
  app.add_option("--work", campaign.limits.work, "The most multiply-adds of a product")->check(CLI::PositiveNumber);
  app.add_option("--elements", campaign.limits.elements, "The most elements of A, B and C")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);

  campaign.host = batch_invariance::executors_of({Backend::OpenMP, Backend::Tbb, Backend::Reference});
  campaign.together = named.empty() ? campaign.host : batch_invariance::executors_of({parse_backend(named)});
  if (campaign.together.empty()) return 77;
  const auto begin = std::chrono::steady_clock::now();
  Index wrong = 0;
  for (const std::string& mode : modes) wrong += batch_invariance::wrong_of(campaign, parse_math(mode));
  fmt::print("all: {} comparisons with differing bits, {:.0f} s\n", wrong,
             std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "tessera_batch_campaign: {}\n", error.what());
  return 2;
}
