/// The path of a batch: an executor is chosen, operands are brought to its memory as a whole, and the batch runs. A
/// batch that a device cannot hold goes through it in parts.

#include <tessera/gemm_batch.hpp>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "batch_copies.hpp"
#include "core/base/partly_written.hpp"
#include "core/gemm/check_gemm.hpp"
#include "core/gemm/placed_call.hpp"
#include "core/gemm/verified.hpp"
#include "core/matrix/operand.hpp"
#include "core/placement/placement.hpp"
#include "pointer_groups.hpp"
#include "results_apart.hpp"

namespace tessera::detail {
namespace {

/// Chooses the executor for the largest product, because the work of many small products does not outweigh their
/// copies.
Executor& place(std::span<const GemmBatch> groups, Backend backend) {
  const auto work = [](const GemmBatch& group) {
    return static_cast<double>(group.call.m) * static_cast<double>(group.call.n) * static_cast<double>(group.call.k);
  };
  const auto largest = std::max_element(groups.begin(), groups.end(),
                                        [&](const GemmBatch& x, const GemmBatch& y) { return work(x) < work(y); });
  if (largest == groups.end()) return place_gemm(backend, {DType::F32, Math::Strict, {}}, {});
  const GemmCall& call = largest->call;
  return place_gemm(backend, {call.type, call.math, call.shape()}, {});
}

/// Returns the place of a result among the results of one storage; of one in the caller's memory, its addresses.
WrittenRows written_rows_of(const Operand& c, std::size_t product) {
  const auto element = static_cast<std::uintptr_t>(size_of(c.storage->type()));
  const auto first = c.storage->borrowed() ? reinterpret_cast<std::uintptr_t>(c.storage->host_read()) : 0;
  return {.begin = first + static_cast<std::uintptr_t>(c.row * c.storage->ld() + c.col) * element,
          .width = static_cast<std::uintptr_t>(c.cols) * element,
          .pitch = static_cast<std::uintptr_t>(c.storage->ld()) * element,
          .rows = static_cast<std::uintptr_t>(c.rows),
          .product = product};
}

/// Throws InvalidArgument if two results share elements. Storages that own their memory may have theirs on a device.
void expect_results_apart(std::span<const Operand> c) {
  using Kept = std::pair<const Storage*, std::size_t>; // null for memory of callers, which storages may share
  std::vector<Kept> by_storage;
  by_storage.reserve(c.size());
  for (std::size_t i = 0; i < c.size(); ++i)
    if (c[i].rows > 0 && c[i].cols > 0)
      by_storage.emplace_back(c[i].storage->borrowed() ? nullptr : c[i].storage.get(), i);
  std::sort(by_storage.begin(), by_storage.end());
  for (auto begin = by_storage.begin(); begin != by_storage.end();) {
    const auto end = std::find_if(begin, by_storage.end(), [&](const Kept& x) { return x.first != begin->first; });
    std::vector<WrittenRows> results;
    if (end - begin > 1) // results of different storages are apart
      for (const Kept& x : std::span(begin, end)) results.push_back(written_rows_of(c[x.second], x.second));
    begin = end;
    const auto shared = find_shared_result(results);
    if (!shared) continue;
    const auto [x, y] = std::minmax({shared->first, shared->second});
    throw InvalidArgument("gemm batch: c[" + std::to_string(x) + "] (" + shape(c[x]) + ") overlaps c[" +
                          std::to_string(y) + "] (" + shape(c[y]) +
                          ") in memory; each product needs a result of its own");
  }
}

/// Products of equally many matrices a, b and c.
struct MatrixBatch {
  double alpha;
  std::span<const Operand> a, b;
  double beta;
  std::span<const Operand> c;

  MatrixBatch part(std::size_t first, std::size_t count) const {
    return {alpha, a.subspan(first, count), b.subspan(first, count), beta, c.subspan(first, count)};
  }
};

/// Multiplies with all operands in the executor's memory, where the results stay.
void multiply_on(Executor& executor, const MatrixBatch& x, const GemmOptions& options) {
  std::deque<DeviceHold> holds;
  const bool on_host = executor.capabilities().host_memory;
  const auto read = [&](const Operand& one) {
    return on_host ? place_of(one, one.storage->read_on(executor)) : holds.emplace_back(one, executor).read();
  };
  PointerGroups products;
  for (std::size_t i = 0; i < x.a.size(); ++i) {
    const Operand &a = x.a[i], &b = x.b[i], &c = x.c[i];
    const Placed on_a = read(a), on_b = read(b);
    const Placed on_c = write_on(c, executor, x.beta == 0.0);
    const GemmCall call = placed_call(x.alpha, {a, on_a}, {b, on_b}, x.beta, {c, on_c}, options);
    products.add(call, on_a.data, on_b.data, on_c.data);
  }
  throw_if_failed(executor.gemm_batch(executor.default_queue(), products.batches(), options.kernel));
  for (const Operand& result : x.c) written_on(result, executor);
}

/// Returns false if not all of it fits; then every C is as it was.
bool multiply_at_once(Executor& device, const MatrixBatch& x, const GemmOptions& options) try {
  multiply_on(device, x, options);
  return true;
} catch (const OutOfMemory&) {
  return false;
}

/// Multiplies at once, or in halves if not all of it fits. Then operands that were not on the device before leave it
/// again, and results return to the host. `written` is set once some results are written.
void multiply_on_device(Executor& device, const MatrixBatch& x, const GemmOptions& options, bool& written) {
  std::vector<Operand> brought;
  for (const std::span<const Operand> operands : {x.a, x.b})
    std::copy_if(operands.begin(), operands.end(), std::back_inserter(brought),
                 [&](const Operand& operand) { return operand.storage->resident_on() != &device; });
  if (multiply_at_once(device, x, options)) return;
  const auto leave = [&] {
    for (const Operand& operand : brought) operand.storage->leave_device();
    for (const Operand& result : x.c) result.storage->leave_device();
  };
  leave();
  const std::size_t count = x.a.size(), half = count / 2;
  if (count == 1) {
    GemmOptions there = options;
    there.backend = device.capabilities().backend;
    gemm(x.alpha, x.a[0], x.b[0], x.beta, x.c[0], there, {});
    written = true;
    return;
  }
  for (const MatrixBatch& part : {x.part(0, half), x.part(half, count - half)}) {
    multiply_on_device(device, part, options, written);
    written = true;
    leave();
  }
}

/// Computes one product of a batch, which verifies itself. Throws DataCorruption that names it.
template <class Multiply>
void multiply_one_verified(std::size_t number, bool& written, const Multiply& multiply) {
  std::optional<DataCorruption> wrong;
  tell_of_parts_written(written, [&] {
    try {
      multiply();
    } catch (const DataCorruption& error) {
      wrong = error;
    }
  });
  if (wrong)
    throw DataCorruption("gemm batch, product " + std::to_string(number) + ": " + wrong->what(), wrong->row(),
                         wrong->col());
  written = true;
}

/// Multiplies one product after another, each of which verifies itself, once all are known to be of a kind that can.
void multiply_verified(std::span<const GemmBatch> groups, const GemmOptions& options) {
  Executor& executor = place_verified(options);
  throw_if_failed(check_gemm_batch(groups));
  const auto each = [&](const auto& action) {
    for (const GemmBatch& group : groups)
      for (Index i = 0; i < group.count; ++i) action(group.product(i));
  };
  for (const GemmBatch& group : groups) {
    if (group.ends.data != nullptr) check_unverified(options, "a batch of rows between ends");
    if (!group.call.epilogue.empty()) check_unverified(options, "a batch with an epilogue");
  }
  const GemmKernel* kernel = nullptr;
  each([&](const GemmCall& call) { throw_if_failed(executor.choose_kernel(call, options.kernel, kernel)); });
  bool written = false;
  std::size_t number = 0;
  each([&](const GemmCall& call) {
    multiply_one_verified(number++, written, [&] { gemm_verified(executor, call, options); });
  });
}

} // namespace

void gemm_batch_raw(std::span<const GemmBatch> groups, const GemmOptions& options) try {
  const ContractArithmetic contract;
  if (options.verify != Verify::None) return multiply_verified(groups, options);
  Executor& executor = place(groups, options.backend);
  if (executor.capabilities().host_memory)
    return throw_if_failed(executor.gemm_batch(executor.default_queue(), groups, options.kernel));
  for (const GemmBatch& group : groups)
    if (!group.call.epilogue.empty())
      throw InvalidArgument("gemm batch: epilogues of operands in host memory are for backends that compute there; " +
                            std::string(to_string(executor.capabilities().backend)) +
                            " takes them from operands in its own memory");
  throw_if_failed(check_gemm_batch(groups));
  gemm_batch_by_copies(executor, groups, options);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gemm_batch(double alpha, std::span<const Operand> a, std::span<const Operand> b, double beta,
                std::span<const Operand> c, const GemmOptions& options) try {
  const ContractArithmetic contract;
  if (a.size() != b.size() || a.size() != c.size())
    throw InvalidArgument("gemm batch: there are " + std::to_string(a.size()) + " a, " + std::to_string(b.size()) +
                          " b and " + std::to_string(c.size()) + " c; as many of each are needed");
  if (a.empty()) return;
  std::size_t largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (const std::string why = product_mismatch(a[i], b[i], c[i]); !why.empty())
      throw InvalidArgument("gemm batch, product " + std::to_string(i) + ": " + why);
    const auto work = [&](std::size_t of) {
      return static_cast<double>(c[of].rows * c[of].cols * logical_cols(a[of]));
    };
    if (work(i) > work(largest)) largest = i;
  }
  expect_results_apart(c);
  if (options.verify != Verify::None) {
    bool written = false;
    for (std::size_t i = 0; i < a.size(); ++i)
      multiply_one_verified(i, written, [&] { gemm(alpha, a[i], b[i], beta, c[i], options, {}); });
    return;
  }
  Executor& executor = place_gemm(options.backend,
                                  {a[largest].storage->type(),
                                   options.math,
                                   {.m = c[largest].rows, .n = c[largest].cols, .k = logical_cols(a[largest])}},
                                  {&a[largest], &b[largest], &c[largest]});
  const MatrixBatch all{alpha, a, b, beta, c};
  if (executor.capabilities().host_memory) {
    multiply_on(executor, all, options);
  } else {
    bool written = false;
    tell_of_parts_written(written, [&] { multiply_on_device(executor, all, options, written); });
  }
  for (const Operand& result : c)
    if (result.storage->borrowed()) result.storage->host_read(); // the owner reads the memory, not the view
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
