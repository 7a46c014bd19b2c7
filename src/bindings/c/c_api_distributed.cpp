/// The C interface to distributed products. A rank's own mistakes are agreed on before the first collective step.

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "c_api_distributed.hpp"

using namespace tessera::c_api;
using tessera::DType;
using tessera::InvalidArgument;
using tessera::Op;
using tessera::detail::DistributedPointer;
using tessera::detail::DistributedStorage;

namespace tessera::c_api {
namespace {

/// Returns the name of an engine as a constant.
const char* constant_name(std::string_view name) {
  for (const DistributedEngine& engine : distributed_engines())
    if (engine.name == name) return engine.name.data();
  return nullptr;
}

} // namespace

void check_size(std::size_t size, std::size_t expected, const char* what, const char* instead) {
  if (size != expected)
    throw InvalidArgument(std::string(what) + " = " + std::to_string(size) + ", but this library's is " +
                          std::to_string(expected) + "; " + instead);
}

void take_options(const tessera_pgemm_options* words, Arguments& x) {
  if (words == nullptr) return;
  check_size(words->size, sizeof(tessera_pgemm_options), "options.size", "start from tessera_default_pgemm_options()");
  x.order = checked(words->order, LocalOrder::ColumnMajor, "options.order");
  x.options.backend = checked(words->backend);
  if (words->engine != nullptr) x.options.engine = words->engine;
  x.options.threads = words->threads;
  x.options.memory_limit = words->memory_limit;
  x.options.device_messages = words->device_messages != 0;
}

void check_plan(const tessera_pgemm_plan* plan) {
  if (plan == nullptr) throw InvalidArgument("plan is null; pass the address of a tessera_pgemm_plan");
  check_size(plan->size, sizeof(tessera_pgemm_plan), "plan->size", "set it to sizeof(tessera_pgemm_plan)");
}

tessera_pgemm_plan plan_of(const DistributedPlan& plan) {
  return {sizeof(tessera_pgemm_plan), constant_name(plan.engine), plan.host_bytes,
          plan.device_bytes,          plan.counts_bytes,          plan.bytes_expected};
}

} // namespace tessera::c_api

namespace {

/// A matrix as the caller describes it.
struct Described {
  const char* name;
  void* data;
  const int* descriptor;
};

DistributedPointer wrapped(const tessera_grid& grid, const Arguments& x, const Described& matrix) {
  std::array<int, 9> descriptor{};
  std::copy_n(matrix.descriptor, descriptor.size(), descriptor.begin());
  return tessera::detail::wrap_distributed(grid.state, descriptor, matrix.data, x.type, x.order);
}

/// The matrices of a product.
struct Operands {
  Described a, b, c;
};

/// Reads the arguments, of which `take(x)` reads what only one element type has, and calls run(x, a, b, c). `check`
/// says what else is wrong on this rank.
template <class Take, class Check, class Run>
tessera_status with_product(tessera_grid* grid, const Operands& of, const tessera_pgemm_options* words, Take&& take,
                            Check&& check, Run&& run) noexcept {
  return guarded([&] {
    if (grid == nullptr) throw InvalidArgument("grid is null; make one with tessera_grid_create()");
    Arguments x;
    const auto read = [&] {
      take(x);
      take_options(words, x);
      for (const Described& matrix : {of.a, of.b, of.c})
        if (matrix.descriptor == nullptr)
          throw InvalidArgument(std::string("desc_") + matrix.name +
                                " is null; pass the nine integers of a descriptor");
      check();
    };
    tessera::detail::run_on_all(*grid->state, "tessera_pgemm", std::ref(read));
    const DistributedPointer a = wrapped(*grid, x, of.a), b = wrapped(*grid, x, of.b), c = wrapped(*grid, x, of.c);
    run(x, *a, *b, *c);
  });
}

template <class Take>
tessera_status multiply(tessera_grid* grid, const Operands& of, const tessera_pgemm_options* words,
                        Take&& take) noexcept {
  return with_product(
      grid, of, words, take, [] {},
      [](const Arguments& x, const DistributedStorage& a, const DistributedStorage& b, const DistributedStorage& c) {
        tessera::detail::gemm(x.alpha, a, x.op_a, b, x.op_b, x.beta, c, x.options);
      });
}

template <class Take>
tessera_status plan_product(tessera_grid* grid, const Operands& of, const tessera_pgemm_options* words,
                            tessera_pgemm_plan* plan, Take&& take) noexcept {
  return with_product(
      grid, of, words, take, [plan] { check_plan(plan); },
      [&](const Arguments& x, const DistributedStorage& a, const DistributedStorage& b, const DistributedStorage& c) {
        *plan = plan_of(tessera::detail::plan_gemm(x.alpha, a, x.op_a, b, x.op_b, x.beta, c, x.options));
      });
}

Operands operands(const void* a, const int* desc_a, const void* b, const int* desc_b, const void* c,
                  const int* desc_c) noexcept {
  return {
      {"a", const_cast<void*>(a), desc_a}, {"b", const_cast<void*>(b), desc_b}, {"c", const_cast<void*>(c), desc_c}};
}

/// Returns what reads the arguments of a product of numbers.
auto take_real(tessera_dtype type, tessera_op op_a, tessera_op op_b, double alpha, double beta) {
  return [=](Arguments& x) {
    x.type = {checked_type(type, "type"), false};
    x.op_a = checked(op_a, "op_a");
    x.op_b = checked(op_b, "op_b");
    x.alpha = as_scalar(alpha, x.type.part);
    x.beta = as_scalar(beta, x.type.part);
  };
}

/// Returns what reads the arguments of a product of complex numbers.
auto take_complex(tessera_dtype type, tessera_op op_a, tessera_op op_b, const void* alpha, const void* beta) {
  return [=](Arguments& x) {
    x.type = {checked(type, DType::F64, "type"), true};
    x.op_a = checked(op_a, Op::ConjugateTranspose, "op_a");
    x.op_b = checked(op_b, Op::ConjugateTranspose, "op_b");
    const auto read = x.type.part == DType::F32 ? &factor<float> : &factor<double>;
    x.alpha = read(alpha, "alpha");
    x.beta = read(beta, "beta");
  };
}

} // namespace

tessera_status tessera_grid_create(const void* comm, size_t comm_size, int rows, int cols, int layers,
                                   double time_limit, tessera_grid** grid) {
  return guarded([&] {
    if (grid == nullptr) throw InvalidArgument("grid is null; pass the address of a tessera_grid*");
    *grid = nullptr;
    if (comm == nullptr) throw InvalidArgument("comm is null; pass the address of an MPI_Comm");
    auto made = std::make_unique<tessera_grid>();
    made->state = tessera::detail::make_grid({comm, comm_size}, {rows, cols, layers},
                                             time_limit == 0 ? tessera::default_time_limit : time_limit);
    *grid = made.release();
  });
}

void tessera_grid_destroy(tessera_grid* grid) { delete grid; }

int64_t tessera_local_size(int64_t size, int64_t block, int coordinate, int source, int count) {
  if (size < 0 || block < 1 || count < 1) return 0;
  return tessera::detail::local_size(size, block, coordinate, source, count);
}

tessera_pgemm_options tessera_default_pgemm_options(void) {
  return {sizeof(tessera_pgemm_options), TESSERA_COLUMN_MAJOR, TESSERA_AUTO, nullptr, 0, 0, 0};
}

tessera_status tessera_pgemm(tessera_grid* grid, tessera_dtype type, tessera_op op_a, tessera_op op_b, double alpha,
                             const void* a, const int* desc_a, const void* b, const int* desc_b, double beta, void* c,
                             const int* desc_c, const tessera_pgemm_options* options) {
  return multiply(grid, operands(a, desc_a, b, desc_b, c, desc_c), options, take_real(type, op_a, op_b, alpha, beta));
}

tessera_status tessera_pgemm_complex(tessera_grid* grid, tessera_dtype type, tessera_op op_a, tessera_op op_b,
                                     const void* alpha, const void* a, const int* desc_a, const void* b,
                                     const int* desc_b, const void* beta, void* c, const int* desc_c,
                                     const tessera_pgemm_options* options) {
  return multiply(grid, operands(a, desc_a, b, desc_b, c, desc_c), options,
                  take_complex(type, op_a, op_b, alpha, beta));
}

tessera_status tessera_plan_pgemm(tessera_grid* grid, tessera_dtype type, tessera_op op_a, tessera_op op_b,
                                  double alpha, const void* a, const int* desc_a, const void* b, const int* desc_b,
                                  double beta, const void* c, const int* desc_c, const tessera_pgemm_options* options,
                                  tessera_pgemm_plan* plan) {
  return plan_product(grid, operands(a, desc_a, b, desc_b, c, desc_c), options, plan,
                      take_real(type, op_a, op_b, alpha, beta));
}

tessera_status tessera_plan_pgemm_complex(tessera_grid* grid, tessera_dtype type, tessera_op op_a, tessera_op op_b,
                                          const void* alpha, const void* a, const int* desc_a, const void* b,
                                          const int* desc_b, const void* beta, const void* c, const int* desc_c,
                                          const tessera_pgemm_options* options, tessera_pgemm_plan* plan) {
  return plan_product(grid, operands(a, desc_a, b, desc_b, c, desc_c), options, plan,
                      take_complex(type, op_a, op_b, alpha, beta));
}
