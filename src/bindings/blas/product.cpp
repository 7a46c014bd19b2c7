#include "product.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <tessera/detail/column_major.hpp>
#include <tessera/detail/printable.hpp>

#include "core/batch/results_apart.hpp"
#include "core/executor/threads.hpp"
#include "reference/gemm/without_memory.hpp"

namespace tessera::blas {

void abort_with(const char* routine, const char* why) noexcept {
  std::fprintf(stderr, "tessera: %s: %s\n", routine, detail::printable(why, true).c_str());
  std::abort();
}

namespace {

/// Returns what TESSERA_VERIFY asks for: none, detect or repair.
Verify verify_of_environment() {
  const char* const word = std::getenv("TESSERA_VERIFY");
  if (word == nullptr || *word == '\0') return Verify::None;
  try {
    return parse_verify(word);
  } catch (const InvalidArgument& error) {
    throw Error(StatusCode::InvalidArgument, std::string("TESSERA_VERIFY: ") + error.what());
  }
}

/// Says that the loop that needs no memory computes the product, and why.
void say_slow(const char* routine, const char* why) {
  std::fprintf(stderr, "tessera: %s: %s; a slow loop that needs none computes the product%s\n", routine, why,
               verify_of_environment() == Verify::None ? "" : ", which is not verified");
}

/// Calls run(options) with the default options, whose backend is Auto: TESSERA_BACKEND names it. Where memory is short,
/// nothing is written yet, and multiply_anyway() computes the products with the same bits and without memory. Prints
/// the reason of any other failure and aborts. `work` is refused in the words of a caller with matrices in this order.
template <class Work, class Run, class MultiplyAnyway>
void run_or_abort(const char* routine, const Work& work, Order order, Run run, MultiplyAnyway multiply_anyway) noexcept
    try {
  try {
    detail::pass_over_wrong_thread_variables();
    run(GemmOptions{});
  } catch (const OutOfMemory& error) {
    say_slow(routine, error.what());
    multiply_anyway();
  } catch (const std::bad_alloc&) {
    say_slow(routine, "out of host memory");
    multiply_anyway();
  }
} catch (const InvalidArgument& error) {
  const Status columns = order == Order::Columns ? detail::check_column_major(work) : Status{};
  abort_with(routine, columns.ok() ? error.what() : columns.why.c_str());
} catch (const std::exception& error) {
  abort_with(routine, error.what());
}

/// Computes a product without memory. Its arguments may not have been checked before memory was short.
template <class Call>
void multiply_without_memory(const Call& call) {
  throw_if_failed(check_gemm(call));
  host::multiply_without_memory(call);
}

} // namespace

void say_unverified(const char* routine) noexcept try {
  static std::atomic_flag said;
  if (verify_of_environment() == Verify::None || said.test_and_set()) return;
  std::fprintf(stderr, "tessera: TESSERA_VERIFY: %s is not verified, nor is any other routine than gemm\n", routine);
} catch (const std::exception& error) {
  abort_with(routine, error.what());
}

void multiply(const char* routine, const GemmCall& call, Order order) noexcept {
  run_or_abort(
      routine, call, order,
      [&](GemmOptions options) {
        options.verify = verify_of_environment();
        detail::gemm_raw(call, options);
      },
      [&] { multiply_without_memory(call); });
}
void multiply(const char* routine, const ComplexGemmCall& call, Order order) noexcept {
  run_or_abort(
      routine, call, order,
      [&](GemmOptions options) {
        options.verify = verify_of_environment();
        detail::gemm_raw(call, options);
      },
      [&] { multiply_without_memory(call); });
}
void multiply(const char* routine, std::span<const GemmBatch> groups, Order order) noexcept {
  run_or_abort(
      routine, groups, order,
      [&](GemmOptions options) {
        options.verify = verify_of_environment();
        detail::gemm_batch_raw(groups, options);
      },
      [&] {
        throw_if_failed(check_gemm_batch(groups));
        for (const GemmBatch& group : groups)
          for (Index i = 0; i < group.count; ++i) host::multiply_without_memory(group.product(i));
      });
}

void expect_results_apart(const char* routine, std::span<const GemmBatch> groups) noexcept {
  const auto shared = detail::find_shared_result(groups);
  if (!shared) return;
  const auto named = [](const detail::ProductPlace& place) {
    return "product " + std::to_string(place.index) + " of group " + std::to_string(place.group);
  };
  try {
    const std::string why = "the results of " + named(shared->first) + " and " + named(shared->second) +
                            " overlap in memory; each product needs a result of its own";
    abort_with(routine, why.c_str());
  } catch (const std::bad_alloc&) {
    abort_with(routine, "two results overlap in memory; each product needs a result of its own");
  }
}

} // namespace tessera::blas
