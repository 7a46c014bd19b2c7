/// Views of matrices and memory, and the check of the views that a functor has.

#include <cstring>
#include <limits>
#include <new>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/user_kernel/run_functor.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>
#include <tessera/user_kernel/make_view.hpp>

#include "core/matrix/operand.hpp"

namespace tessera::detail {
namespace {

std::string word(Access access) { return access == Access::In ? "In" : access == Access::Out ? "Out" : "InOut"; }

/// "a view (Out, 3×4, strides 16 and 1)"
std::string describe(const ViewRecord& view) {
  return "a view (" + word(access_of_tag(view.tag)) + ", " + shape(view.rows, view.cols) + ", strides " +
         std::to_string(view.row_stride) + " and " + std::to_string(view.col_stride) + ")";
}

std::string describe(const KernelRun& run) { return "functor '" + std::string(run.name) + "'"; }

/// The elements of a view as they are stored, row by row.
StoredRows stored(const ViewRecord& view) {
  const std::size_t element = element_of_tag(view.tag);
  if (view.col_stride == 1) return {view.data, view.rows, view.cols, view.row_stride, element};
  if (view.row_stride == 1) return {view.data, view.cols, view.rows, view.col_stride, element};
  return {view.data, 1, (view.rows - 1) * view.row_stride + (view.cols - 1) * view.col_stride + 1,
          std::numeric_limits<Index>::max(), element};
}

bool same_layout(const ViewRecord& x, const ViewRecord& y) {
  return x.data == y.data && x.row_stride == y.row_stride && x.col_stride == y.col_stride &&
         element_of_tag(x.tag) == element_of_tag(y.tag);
}

void check_executor(const KernelRun& run, const ViewRecord& view) {
  const Backend of = backend_of_tag(view.tag), on = run.executor.capabilities().backend;
  if (of == on) return;
  const bool on_host = run.executor.capabilities().host_memory;
  if (of != Backend::Auto && on_host && memory_of(of) == Memory::Host) return; // all of them reach the host's memory
  throw InvalidArgument(describe(run) + " runs on " + std::string(to_string(on)) + ", but it has " + describe(view) +
                        (of == Backend::Auto ? " that was not made by read(), write() or update()"
                                             : " of " + std::string(to_string(of)) + "'s memory") +
                        "; make all views for the executor that runs it");
}

void check_overlap(const KernelRun& run, const ViewRecord& x, const ViewRecord& y) {
  if (access_of_tag(x.tag) == Access::In && access_of_tag(y.tag) == Access::In) return;
  if (same_layout(x, y) || !overlap(stored(x), stored(y))) return;
  throw InvalidArgument(describe(run) + ": " + describe(x) + " shares elements with " + describe(y) +
                        " of another place or layout, so that an index could read what another one writes; write to "
                        "other memory");
}

} // namespace

PlacedView place_view(const Operand& operand, Executor& executor, Access access) try {
  const ContractArithmetic contract;
  const bool writes = access != Access::In, discard = access == Access::Out && is_whole(operand);
  const Placed placed = place_of(operand, operand.storage->view_on(executor, writes, discard));
  const bool straight = operand.op == Op::None;
  return {placed.data,
          logical_rows(operand),
          logical_cols(operand),
          straight ? placed.ld : 1,
          straight ? 1 : placed.ld,
          executor.capabilities().backend};
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

PlacedView memory_view(const void* data, Index rows, Index cols, Index ld, Executor& executor) {
  if (rows < 0 || cols < 0) throw InvalidArgument("view: sizes must not be negative: " + shape(rows, cols));
  if (ld < cols)
    throw InvalidArgument("view: ld = " + std::to_string(ld) + " is less than its " + std::to_string(cols) +
                          " columns");
  if (data == nullptr && rows > 0 && cols > 0)
    throw InvalidArgument("view of null with " + shape(rows, cols) + " elements");
  return {data, rows, cols, ld, 1, executor.capabilities().backend};
}

std::uint64_t check_run(const KernelRun& run) try {
  if (run.rows < 0 || run.cols < 0)
    throw InvalidArgument(describe(run) + ": the index space has negative sizes: " + shape(run.rows, run.cols));
  if (run.rows > 0 && run.cols > std::numeric_limits<Index>::max() / run.rows)
    throw InvalidArgument(describe(run) + ": the index space " + shape(run.rows, run.cols) + " overflows");
  if (run.options.threads < 0)
    throw InvalidArgument(describe(run) + ": options.threads = " + std::to_string(run.options.threads) +
                          " is negative; 0 means the default");
  if (run.options.grain < 0)
    throw InvalidArgument(describe(run) + ": options.grain = " + std::to_string(run.options.grain) +
                          " is negative; pass the fewest indices for a thread, 0 for the default");
  if (run.alignment < alignof(ViewRecord)) return 0;
  std::uint64_t strides = 0;
  const auto each_view = [&](std::size_t end, auto visit) { // no list of views: a launch allocates nothing
    for (std::size_t at = 0; at + sizeof(ViewRecord) <= end; at += sizeof(std::uint64_t)) {
      ViewRecord view;
      std::memcpy(&view, static_cast<const char*>(run.functor) + at, sizeof view);
      if (is_view_tag(view.tag)) visit(view, at);
    }
  };
  each_view(run.size, [&](const ViewRecord& view, std::size_t at) {
    strides |= view.tag & (strided_vector | strided_rows);
    if (view.rows == 0 || view.cols == 0) return;
    check_executor(run, view);
    each_view(at, [&](const ViewRecord& other, std::size_t) {
      if (other.rows > 0 && other.cols > 0) check_overlap(run, other, view);
    });
  });
  return strides;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void require_extremum(const char* functor, Index rows, Index cols) {
  if (rows == 0 || cols == 0)
    throw InvalidArgument("functor '" + std::string(functor) + "': no values have no extremum: the index space is " +
                          shape(rows, cols));
}

void check_scan(const ViewRecord& in, const ViewRecord& out) {
  const auto is_vector = [](const ViewRecord& x) { return x.rows == 1 || x.cols == 1 || x.rows == 0 || x.cols == 0; };
  if (!is_vector(in) || !is_vector(out) || in.rows * in.cols != out.rows * out.cols)
    throw InvalidArgument("inclusive_scan: in is " + shape(in.rows, in.cols) + ", out is " + shape(out.rows, out.cols) +
                          "; give two vectors of one length");
}

} // namespace tessera::detail
