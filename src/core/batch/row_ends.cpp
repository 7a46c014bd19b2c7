/// Batches whose products share the rows of A and C. Where the ends of the rows are in host memory, each product
/// becomes a group of its own; where they are in a device's, the device reads them.

#include <new>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/executor.hpp>

#include "core/base/partly_written.hpp"
#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"

namespace tessera {
namespace {

/// Appends the products of a group whose ends are in host memory, and one of k = 0 for the rows after them.
Status append_products(const GemmBatch& group, std::vector<GemmBatch>& to) {
  const auto from_row = [](const void* rows, Index elements, DType type) {
    return rows == nullptr ? nullptr : static_cast<const char*>(rows) + elements * static_cast<Index>(size_of(type));
  };
  // Appends the rows from `begin` to `end` of product i.
  const auto append = [&](Index i, Index begin, Index end, Index k) {
    if (begin == end) return;
    GemmBatch one{.call = group.product(i)};
    one.call.m = end - begin;
    one.call.k = k;
    one.call.a = from_row(one.call.a, begin * (one.call.op_a == Op::None ? one.call.lda : 1), one.call.type);
    one.call.c = const_cast<char*>(from_row(one.call.c, begin * one.call.ldc, one.call.result));
    to.push_back(one);
  };
  Index begin = 0;
  for (Index i = 0; i < group.count; ++i) {
    const Index end = group.ends.at(i);
    if (end < begin || end > group.call.m)
      return Status::failure(StatusCode::InvalidArgument,
                             "gemm batch: ends[" + std::to_string(i) + "] = " + std::to_string(end) +
                                 " must be at least the end before it, " + std::to_string(begin) +
                                 ", and at most m = " + std::to_string(group.call.m));
    append(i, begin, end, group.call.k);
    begin = end;
  }
  if (group.count > 0) append(0, begin, group.call.m, 0);
  return {};
}

} // namespace

Status Executor::gemm_batch_by_ends(Queue& queue, std::span<const GemmBatch> groups, std::string_view kernel) {
  std::vector<GemmBatch> known;
  std::vector<const GemmBatch*> on_device;
  for (const GemmBatch& group : groups) {
    if (group.ends.data == nullptr) {
      known.push_back(group);
    } else if (capabilities().host_memory) {
      if (Status status = append_products(group, known); !status.ok()) {
        if (groups.size() > 1) status.why = "group " + std::to_string(&group - groups.data()) + ": " + status.why;
        return status;
      }
    } else if (group.count > 0 && group.call.m > 0 && group.call.n > 0) {
      on_device.push_back(&group);
    }
  }
  if (!on_device.empty() && !kernel.empty())
    return Status::failure(StatusCode::Rejected,
                           "gemm batch: '" + std::string(kernel) +
                               "' does not take rows whose ends are in a device's memory; name no kernel");
  for (const GemmBatch* group : on_device)
    if (Status status = takes_row_ends(*group); !status.ok()) return status;
  bool written = false;
  for (const GemmBatch* group : on_device) {
    const auto run = [&] { return run_row_ends(queue, *group); };
    const auto described = [&] { return tools::describe(*this, queue, std::span(group, 1), "batch"); };
    Status status = tools::anyone_listens() ? tools::observe(described, run) : run();
    if (!status.ok()) return written ? detail::partly_written(status) : status;
    written = true;
  }
  if (known.empty()) return {};
  Status status = gemm_batch(queue, known, kernel);
  return written && !status.ok() ? detail::partly_written(status) : status;
}

Status Executor::takes_row_ends(const GemmBatch&) const {
  return Status::failure(StatusCode::Rejected,
                         "gemm batch: backend '" + std::string(to_string(capabilities().backend)) +
                             "' cannot read where rows end from its memory; make a group for each product");
}

Status Executor::run_row_ends(Queue&, const GemmBatch& group) noexcept try {
  return takes_row_ends(group);
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera
