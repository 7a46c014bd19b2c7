/// The way of a distributed product: the arguments are checked and agreed on, an engine is chosen, the memory is
/// planned and allocated, the engine computes the sums, and C := alpha·sums + beta·C is computed where C lies.

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/running_sums.hpp>

#include "agreement.hpp"
#include "base/unknown_word.hpp"
#include "dispatch/placement.hpp"
#include "engines.hpp"
#include "epilogue.hpp"
#include "gemm/check_gemm.hpp"
#include "operands.hpp"
#include "panels/device_messages.hpp"

namespace tessera::detail {
namespace {

using namespace tessera::distributed;

constexpr const char* name_of_gemm = "distributed gemm";

/// The arguments of a call.
struct Call {
  std::complex<double> alpha;
  const DistributedStorage& a;
  Op op_a;
  const DistributedStorage& b;
  Op op_b;
  std::complex<double> beta;
  const DistributedStorage& c;
  const DistributedOptions& options;

  Index m() const { return op_a == Op::None ? a.rows : a.cols; }
  Index n() const { return op_b == Op::None ? b.cols : b.rows; }
  Index k() const { return op_a == Op::None ? a.cols : a.rows; }
  LastStep last_step() const { return {alpha, beta, c, options.threads}; }
};

StoredRows stored(const DistributedStorage& x) {
  const bool by_rows = x.order == LocalOrder::RowMajor;
  return {x.data, by_rows ? x.local_rows : x.local_cols, by_rows ? x.local_cols : x.local_rows, x.ld, x.type.bytes()};
}

/// Returns the place of the engine that was named in the ladder; −1 for an empty name, −2 for an unknown one.
std::int64_t number_of_engine(const std::string& name) {
  if (name.empty()) return -1;
  std::int64_t number = 0;
  for (const EngineRow* row : engine_rows()) {
    if (row->name == name) return number;
    ++number;
  }
  return -2;
}

std::string name_of(DistributedType type) {
  return (type.is_complex ? "complex " : "") + std::string(to_string(type.part));
}

Status check_threads(const Call& call) {
  const int threads = call.options.threads > 0 ? call.options.threads : default_threads();
  const ThreadLevel level = call.c.grid->world->thread_level();
  if (level == ThreadLevel::Single && threads > 1 && call.options.backend != Backend::Reference)
    return {StatusCode::InvalidArgument,
            "MPI was initialised with MPI_THREAD_SINGLE, and the local products would use " + std::to_string(threads) +
                " threads; call MPI_Init_thread with MPI_THREAD_FUNNELED, or pass threads = 1"};
  return {};
}

Status check(const Call& call) {
  const auto wrong = [](std::string why) { return Status{StatusCode::InvalidArgument, std::move(why)}; };
  for (const DistributedStorage* x : {&call.a, &call.b})
    if (x->type != call.c.type)
      return wrong("an operand is of " + name_of(x->type) + ", and c is of " + name_of(call.c.type));
  if (call.a.grid != call.c.grid || call.b.grid != call.c.grid)
    return wrong("a, b and c are not on one grid; redistribute them to one");
  const Index b_rows = call.op_b == Op::None ? call.b.rows : call.b.cols;
  if (std::string why = inner_mismatch(call.m(), call.k(), b_rows, call.n()); !why.empty()) return wrong(why);
  if (call.c.rows != call.m() || call.c.cols != call.n())
    return wrong("c is " + std::to_string(call.c.rows) + "×" + std::to_string(call.c.cols) + ", and the product is " +
                 std::to_string(call.m()) + "×" + std::to_string(call.n()));
  if (call.options.device >= 0 && call.options.backend == Backend::Auto)
    return wrong("device " + std::to_string(call.options.device) + " of no backend; name the backend");
  if (call.options.threads < 0)
    return wrong("threads = " + std::to_string(call.options.threads) + " is negative; 0 means the default");
  if (number_of_engine(call.options.engine) == -2) {
    std::vector<std::string> names;
    for (const EngineRow* row : engine_rows()) names.emplace_back(row->name);
    return wrong(unknown_word("engine", call.options.engine, names));
  }
  for (const DistributedStorage* x : {&call.a, &call.b})
    if (overlap(stored(*x), stored(call.c))) return wrong("c overlaps a or b in this rank's memory");
  return check_threads(call);
}

/// The arguments that describe how a matrix lies.
std::array<EqualArgument, 5> layout(const DistributedStorage& x, const char* name) {
  return {{{name, x.blocks.rows},
           {name, x.blocks.cols},
           {name, std::int64_t{x.row_source}},
           {name, std::int64_t{x.col_source}},
           {name, std::int64_t{static_cast<int>(x.order)}}}};
}

Status agree_on(const Call& call, const Status& mine) {
  // Nothing is allocated before the ranks agree.
  const std::array<EqualArgument, 13> own{{{"m", call.m()},
                                           {"n", call.n()},
                                           {"k", call.k()},
                                           {"the transpose of a", std::int64_t{static_cast<int>(call.op_a)}},
                                           {"the transpose of b", std::int64_t{static_cast<int>(call.op_b)}},
                                           {"alpha", call.alpha.real()},
                                           {"beta", call.beta.real()},
                                           {"the imaginary part of alpha", call.alpha.imag()},
                                           {"the imaginary part of beta", call.beta.imag()},
                                           {"the element type", std::int64_t{static_cast<int>(call.c.type.part)}},
                                           {"complex elements", std::int64_t{call.c.type.is_complex}},
                                           {"the engine", number_of_engine(call.options.engine)},
                                           {"device_messages", std::int64_t{call.options.device_messages}}}};
  std::array<EqualArgument, 13 + 3 * 5> arguments;
  auto* end = std::copy(own.begin(), own.end(), arguments.begin());
  for (const auto& of_matrix : {layout(call.a, "the distribution of a"), layout(call.b, "the distribution of b"),
                                layout(call.c, "the distribution of c")})
    end = std::copy(of_matrix.begin(), of_matrix.end(), end);
  return agree(*call.c.grid->world, name_of_gemm, mine, arguments);
}

/// Returns where an operand lies, as outer×k.
Source operand(const DistributedStorage& x, Op op, bool is_a) {
  Source source = source_of(x, (op == Op::None) == is_a);
  source.lasting = x.memory != nullptr;
  source.conjugated = op == Op::ConjugateTranspose && x.type.is_complex;
  return source;
}

Product product_of(const Call& call) {
  const GridState& grid = *call.c.grid;
  const Segments segments(call.k(), grid.shape.layers, call.c.type.segment());
  const bool works = grid.has_place() && grid.layer() < segments.working_layers;
  const Axis rows = grid.row_axis(call.c), cols = grid.col_axis(call.c);
  return {grid,
          call.c.type,
          call.m(),
          call.n(),
          call.k(),
          operand(call.a, call.op_a, true),
          operand(call.b, call.op_b, false),
          rows,
          cols,
          call.c.order,
          segments,
          works ? rows.held(grid.row_of_rank()) : 0,
          works ? cols.held(grid.col_of_rank()) : 0,
          call.options.threads,
          nullptr,
          call.options.backend,
          call.a.order,
          call.b.order,
          call.options.device_messages};
}

/// Chooses the engine that was named, or the first canonical one that takes the product. All ranks choose alike.
Status choose_engine(const Call& call, const Product& product, const EngineRow*& chosen) {
  std::string reasons;
  for (const EngineRow* row : engine_rows()) {
    if (call.options.engine.empty() ? !row->canonical : row->name != call.options.engine) continue;
    const std::string why = product.device_messages && !row->has_device_messages
                                ? "it does not send panels from a device's memory by MPI, as device_messages demands"
                                : row->reject(product);
    if (why.empty()) {
      chosen = row;
      return {};
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(row->name) + ": " + why;
    if (log_dispatch()) log_line("distributed product, " + std::string(row->name) + " rejects it: " + why);
  }
  return {StatusCode::Rejected, reasons};
}

/// A product in progress on this rank.
struct Work {
  explicit Work(GridState& grid) : buffers(&grid.panels) {}
  const EngineRow* engine = nullptr;
  std::unique_ptr<EngineRun> run;
  DistributedPlan plan;
  HostBuffers buffers;
  char* sums = nullptr;
  DistributedReport report;
};

/// Returns the executor of this rank's products.
Executor& executor_of(const Call& call, const Product& product) {
  if (call.options.device >= 0) return executor(call.options.backend, call.options.device);
  return place_gemm(call.options.backend,
                    {product.type.part, Math::Strict, product.local_rows, product.local_cols, product.k}, {});
}

/// Chooses the engine and plans the memory.
Status plan(const Call& call, Product& product, Work& work) {
  if (Status status = choose_engine(call, product, work.engine); !status.ok()) return status;
  product.executor = &executor_of(call, product);
  work.run = work.engine->make(product);
  const std::optional<std::uint64_t> expected = work.run->bytes_expected();
  work.plan = {
      .engine = std::string(work.engine->name),
      .host_bytes = HostBuffers::rounded(product.sums_bytes()) + call.last_step().buffer_bytes() + work.run->bytes(),
      .device_bytes = work.run->device_bytes(),
      .counts_bytes = expected.has_value(),
      .bytes_expected = expected.value_or(0)};
  return {};
}

/// Says what the product will take, and allocates it.
Status prepare(const Call& call, const Product& product, Work& work) {
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
  if (Status status = work.buffers.allocate(product.sums_bytes(), work.sums); !status.ok()) return status;
  if (Status status = work.run->allocate(work.buffers, work.sums); !status.ok()) return status;
  report.allocated_bytes = work.buffers.bytes() + call.last_step().buffer_bytes() + work.plan.device_bytes;
  if (report.allocated_bytes > report.planned_bytes)
    return {StatusCode::Internal, "allocated " + std::to_string(report.allocated_bytes) + " bytes, but planned " +
                                      std::to_string(report.planned_bytes)};
  return {};
}

/// Chooses, plans and allocates. If panels are to be in devices' memory, the ranks agree that they can.
Status plan_and_prepare(const Call& call, Product& product, Work& work) {
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
    throw_if_failed(agree_on_c(world, guarded([&] { return call.last_step().run_without_sums(); })));
    return {};
  }
  Product product = product_of(call);
  Work work(*call.c.grid);
  throw_if_failed(plan_and_prepare(call, product, work));
  Status status = guarded([&] { return work.run->run(work.report); });
  if (world.broken().ok())
    status = agree(world, name_of_gemm, status);
  else
    status.why = std::string(name_of_gemm) + ": " + status.why;
  if (!world.broken().ok()) leave_to_mpi(call, work);
  throw_if_failed(status);
  throw_if_failed(agree_on_c(world, guarded([&] { return call.last_step().run(work.sums); })));
  work.report.agreements = world.agreements - agreements_before;
  return work.report;
}

DistributedPlan plan_only(const Call& call) {
  throw_if_failed(agree_on(call, guarded([&] { return check(call); })));
  if (call.alpha == 0.0 || call.k() == 0) return {};
  Product product = product_of(call);
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
