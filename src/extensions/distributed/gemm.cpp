/// The way of a distributed product: the arguments are checked and agreed on, an engine is chosen, the memory is
/// planned and allocated, the engine computes the sums, and C := alpha·sums + beta·C is computed where C lies.

#include <new>
#include <optional>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "agreement.hpp"
#include "call.hpp"
#include "core/placement/placement.hpp"
#include "engines.hpp"
#include "memory/resident.hpp"
#include "operands.hpp"
#include "panels/device_messages.hpp"

namespace tessera::detail {
namespace {

using namespace tessera::distributed;

/// Returns where an operand lies, as outer×k.
Source operand(const DistributedStorage& x, Op op, bool is_a) {
  Source source = source_of(x, (op == Op::None) == is_a);
  source.lasting = x.memory != nullptr;
  source.conjugated = op == Op::ConjugateTranspose && x.type.is_complex;
  return source;
}

DistributedProduct product_of(const Call& call) {
  const GridState& grid = *call.c.grid;
  const Segments segments(call.k(), grid.shape.layers, segment_of(call.c.type));
  const bool works = grid.has_place() && grid.layer() < segments.working_layers;
  const Axis rows = grid.row_axis(call.c), cols = grid.col_axis(call.c);
  const Executor* const where_they_stay = call.resident_executor();
  return {.grid = grid,
          .type = call.c.type,
          .shape = {.m = call.m(), .n = call.n(), .k = call.k()},
          .a = operand(call.a, call.op_a, true),
          .b = operand(call.b, call.op_b, false),
          .rows = rows,
          .cols = cols,
          .order = call.c.order,
          .segments = segments,
          .local_rows = works ? rows.held(grid.row_of_rank()) : 0,
          .local_cols = works ? cols.held(grid.col_of_rank()) : 0,
          .threads = call.options.threads,
          .executor = nullptr,
          .backend = where_they_stay != nullptr ? where_they_stay->capabilities().backend : call.options.backend,
          .a_order = call.a.order,
          .b_order = call.b.order,
          .device_messages = call.options.device_messages};
}

/// Chooses the engine that was named, or the first one that keeps the contract and takes the product. All ranks choose
/// alike.
Status choose_engine(const Call& call, const DistributedProduct& product, const Engine*& chosen) {
  std::string reasons;
  for (const Engine* engine : engines()) {
    if (call.options.engine.empty() ? !engine->canonical : engine->name != call.options.engine) continue;
    const std::string why = product.device_messages && !engine->has_device_messages
                                ? "it does not send panels from a device's memory by MPI, as device_messages demands"
                                : engine->reject(product);
    if (why.empty()) {
      chosen = engine;
      return {};
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(engine->name) + ": " + why;
    if (log_dispatch()) log_line("distributed product, " + std::string(engine->name) + " rejects it: " + why);
  }
  return {StatusCode::Rejected, reasons};
}

/// A product in progress on this rank.
struct Work {
  explicit Work(GridState& grid) : buffers(&grid.panels) {}
  const Engine* engine = nullptr;
  std::unique_ptr<EngineRun> run;
  DistributedPlan plan;
  HostBuffers buffers;
  char* sums = nullptr;
  DistributedReport report;

  /// Returns the bytes of the sums on the host.
  std::size_t sums_bytes(const DistributedProduct& product) const noexcept {
    return run->leaves_sums_on_device() ? 0 : product.sums_bytes();
  }
};

/// Returns the executor of this rank's products.
Executor& executor_of(const Call& call, const DistributedProduct& product) {
  if (call.options.device >= 0) return executor(call.options.backend, call.options.device);
  if (Executor* const where_they_stay = call.resident_executor()) return *where_they_stay;
  return place_gemm(
      call.options.backend,
      {product.type.part, Math::Strict, {.m = product.local_rows, .n = product.local_cols, .k = product.shape.k}}, {});
}

/// Plans what the engine takes.
void plan_memory(const Call& call, const DistributedProduct& product, Work& work) {
  const std::optional<std::uint64_t> expected = work.run->bytes_expected();
  work.plan = {.engine = std::string(work.engine->name),
               .host_bytes =
                   HostBuffers::rounded(work.sums_bytes(product)) + call.last_step().buffer_bytes() + work.run->bytes(),
               .device_bytes = work.run->device_bytes(),
               .counts_bytes = expected.has_value(),
               .bytes_expected = expected.value_or(0)};
}

/// Chooses the engine and plans the memory.
Status plan(const Call& call, DistributedProduct& product, Work& work) {
  if (Status status = choose_engine(call, product, work.engine); !status.ok()) return status;
  product.executor = &executor_of(call, product);
  if (stays_on(call.a, *product.executor)) product.a.on_device = elements_on_device(call.a, call.op_a == Op::None);
  if (stays_on(call.b, *product.executor)) product.b.on_device = elements_on_device(call.b, call.op_b != Op::None);
  product.c_stays = stays_on(call.c, *product.executor) && call.last_step().takes_sums_on_device();
  work.run = work.engine->make(product);
  plan_memory(call, product, work);
  return {};
}

/// Brings operands, and a C that is read, to where they are read.
Status bring_operands(const Call& call, const Work& work) {
  const auto bring = [](const DistributedStorage& x, bool to_its_device) {
    return to_its_device ? to_device(x) : to_host(x, false);
  };
  if (Status status = bring(call.a, work.run->reads_on_device(true)); !status.ok()) return status;
  if (Status status = bring(call.b, work.run->reads_on_device(false)); !status.ok()) return status;
  return call.beta == 0.0 ? Status{} : bring(call.c, work.run->leaves_sums_on_device());
}

/// Computes C of the sums.
Status finish(const Call& call, const Work& work) {
  if (work.run->leaves_sums_on_device()) {
    written_on_device(call.c);
    return call.last_step().run_on_device(work.run->sums_on_device());
  }
  written_on_host(call.c);
  return call.last_step().run(work.sums);
}

/// Says what the product will take, and compares it with the caller's limit.
Status announce(const Call& call, const DistributedProduct& product, Work& work) {
  DistributedReport& report = work.report;
  report.engine = work.plan.engine;
  report.planned_bytes = work.plan.bytes();
  report.counts_bytes = work.plan.counts_bytes;
  report.bytes_expected = work.plan.bytes_expected;
  if (log_dispatch())
    log_line("distributed product by " + report.engine + ": " + std::to_string(report.planned_bytes) +
             " bytes of memory on rank " + std::to_string(product.grid.world->rank()));
  const std::size_t limit = call.options.memory_limit;
  if (limit != 0 && report.planned_bytes > limit)
    return {StatusCode::OutOfMemory, "the product needs " + std::to_string(report.planned_bytes) +
                                         " bytes, and memory_limit is " + std::to_string(limit) +
                                         "; use more ranks, fewer layers, or a larger limit"};
  return {};
}

/// Says what the product will take, and allocates it. A device that has less memory left makes the plan another one.
Status prepare(const Call& call, const DistributedProduct& product, Work& work) {
  if (Status status = announce(call, product, work); !status.ok()) return status;
  bool changed = false;
  if (Status status = work.run->reserve(changed); !status.ok()) return status;
  if (changed) {
    plan_memory(call, product, work);
    if (Status status = announce(call, product, work); !status.ok()) return status;
  }
  Executor* const copies = work.run->copies_sums_often() ? product.executor : nullptr;
  if (Status status = work.buffers.allocate(work.sums_bytes(product), work.sums, copies); !status.ok()) return status;
  if (Status status = work.run->allocate(work.buffers, work.sums); !status.ok()) return status;
  DistributedReport& report = work.report;
  report.allocated_bytes = work.buffers.bytes() + call.last_step().buffer_bytes() + work.plan.device_bytes;
  if (report.allocated_bytes > report.planned_bytes)
    return {StatusCode::Internal, "allocated " + std::to_string(report.allocated_bytes) + " bytes, but planned " +
                                      std::to_string(report.planned_bytes)};
  return bring_operands(call, work);
}

/// Chooses, plans and allocates. If panels are to be in devices' memory, the ranks agree that they can.
Status plan_and_prepare(const Call& call, DistributedProduct& product, Work& work) {
  Status status = guarded([&] { return plan(call, product, work); });
  if (call.options.device_messages) {
    status = agree(*call.c.grid->world, name_of_gemm, status);
    if (status.ok()) status = check_device_messages(*call.c.grid, *product.executor);
    if (!status.ok()) return status;
  }
  if (status.ok()) status = guarded([&] { return prepare(call, product, work); });
  return agree(*call.c.grid->world, name_of_gemm, status);
}

/// Leaves all memory that MPI may still read or write to the process for good.
void leave_to_mpi(const Call& call, Work& work) {
  work.buffers.abandon();
  work.run->abandon();
  for (const DistributedStorage* x : {&call.a, &call.b})
    static_cast<void>(std::make_unique<std::shared_ptr<void>>(x->memory).release());
}

/// Agrees on the last pass over C. If another rank is lost by now, C is whole on this one all the same; the next call
/// fails, because the grid is broken.
Status agree_on_c(Communicator& world, const Status& mine) {
  Status status = agree(world, name_of_gemm, partly_written(mine));
  if (mine.ok() && !world.broken().ok()) return {};
  return status;
}

DistributedReport multiply(const Call& call) {
  Communicator& world = *call.c.grid->world;
  const std::uint64_t agreements_before = world.agreements;
  throw_if_failed(agree_on(call, guarded([&] { return check(call); })));
  if (call.alpha == 0.0 || call.k() == 0) {
    throw_if_failed(agree_on_c(world, guarded([&] {
                                 Status status = to_host(call.c, true);
                                 return status.ok() ? call.last_step().run_without_sums() : status;
                               })));
    return {};
  }
  DistributedProduct product = product_of(call);
  Work work(*call.c.grid);
  throw_if_failed(plan_and_prepare(call, product, work));
  Status status = guarded([&] { return work.run->run(work.report); });
  if (world.broken().ok())
    status = agree(world, name_of_gemm, status);
  else
    status.why = std::string(name_of_gemm) + ": " + status.why;
  if (!world.broken().ok()) leave_to_mpi(call, work);
  throw_if_failed(status);
  throw_if_failed(agree_on_c(world, guarded([&] { return finish(call, work); })));
  work.report.agreements = world.agreements - agreements_before;
  return work.report;
}

DistributedPlan plan_only(const Call& call) {
  throw_if_failed(agree_on(call, guarded([&] { return check(call); })));
  if (call.alpha == 0.0 || call.k() == 0) return {};
  DistributedProduct product = product_of(call);
  Work work(*call.c.grid);
  throw_if_failed(
      agree(*call.c.grid->world, "plan of a distributed gemm", guarded([&] { return plan(call, product, work); })));
  return std::move(work.plan);
}

} // namespace

DistributedReport gemm(std::complex<double> alpha, const DistributedStorage& a, Op op_a, const DistributedStorage& b,
                       Op op_b, std::complex<double> beta, const DistributedStorage& c,
                       const DistributedOptions& options) try {
  const ContractArithmetic contract;
  return multiply({alpha, a, op_a, b, op_b, beta, c, options});
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

DistributedPlan plan_gemm(std::complex<double> alpha, const DistributedStorage& a, Op op_a, const DistributedStorage& b,
                          Op op_b, std::complex<double> beta, const DistributedStorage& c,
                          const DistributedOptions& options) try {
  return plan_only({alpha, a, op_a, b, op_b, beta, c, options});
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
