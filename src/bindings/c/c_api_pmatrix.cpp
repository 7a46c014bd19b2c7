/// The C interface to distributed matrices in the library's memory.

#include <functional>
#include <memory>
#include <string>

#include "c_api_distributed.hpp"

using namespace tessera::c_api;
using tessera::DType;
using tessera::InvalidArgument;
using tessera::LocalOrder;
using tessera::Op;
using tessera::Residence;
using tessera::detail::DistributedPointer;
using tessera::detail::DistributedType;

struct tessera_pmatrix {
  DistributedPointer storage;
};

namespace {

/// What a new matrix is to be.
struct Wanted {
  DistributedType type;
  LocalOrder order = LocalOrder::ColumnMajor;
  std::unique_ptr<Residence> residence; ///< null: the host's memory
};

void take_options(const tessera_pmatrix_options* words, Wanted& x) {
  if (words == nullptr) return;
  check_size(words->size, sizeof(tessera_pmatrix_options), "options.size",
             "start from tessera_default_pmatrix_options()");
  x.order = checked(words->order, LocalOrder::ColumnMajor, "options.order");
  const tessera::Backend backend = checked(words->backend);
  if (words->device < -1)
    throw InvalidArgument("options.device = " + std::to_string(words->device) +
                          " is negative; pass a device's number, or -1 for the backend's choice");
  if (backend == tessera::Backend::Auto && words->device >= 0)
    throw InvalidArgument("options.device = " + std::to_string(words->device) + " of no backend; name the backend");
  if (backend != tessera::Backend::Auto) x.residence = std::make_unique<Residence>(backend, words->device);
}

DistributedType element_type(tessera_dtype type, int is_complex) {
  if (is_complex == 0) return {checked_type(type, "type"), false};
  return {checked(type, DType::F64, "type"), true};
}

const tessera_pmatrix& matrix_at(const tessera_pmatrix* matrix, const char* name) {
  if (matrix == nullptr)
    throw InvalidArgument(std::string(name) + " is null; make a matrix with tessera_pmatrix_create()");
  return *matrix;
}

/// Brings the elements to the host and says where they are.
template <class Data>
tessera_status bring(const tessera_pmatrix* matrix, bool writes, Data** data, int64_t* ld) noexcept {
  return guarded([&] {
    const tessera::detail::DistributedStorage& x = *matrix_at(matrix, "matrix").storage;
    tessera::detail::bring_to_host(x, writes);
    if (data != nullptr) *data = x.data;
    if (ld != nullptr) *ld = x.ld;
  });
}

/// Reads alpha or beta, a number of the type that products are computed in.
std::complex<double> factor_of(DistributedType type, const void* address, const char* name) {
  const bool wide = scalar_of(type.part) == DType::F64;
  if (type.is_complex) return wide ? factor<double>(address, name) : factor<float>(address, name);
  if (address == nullptr) throw InvalidArgument(std::string(name) + " is null; pass the address of a number");
  return wide ? *static_cast<const double*>(address) : double{*static_cast<const float*>(address)};
}

/// The arguments of a product, which the ranks have not agreed on.
struct Factors {
  tessera_op op_a, op_b;
  const void *alpha, *beta;
  const tessera_pmatrix *a, *b, *c;
};

/// Reads the arguments and calls run(x). `check` says what else is wrong on this rank.
template <class Check, class Run>
tessera_status with_matrices(const Factors& of, const tessera_pgemm_options* words, Check&& check, Run&& run) noexcept {
  return guarded([&] {
    const tessera::detail::DistributedStorage& c = *matrix_at(of.c, "c").storage;
    Arguments x;
    const auto read = [&] {
      x.type = c.type;
      const Op last = x.type.is_complex ? Op::ConjugateTranspose : Op::Transpose;
      x.op_a = checked(of.op_a, last, "op_a");
      x.op_b = checked(of.op_b, last, "op_b");
      x.alpha = factor_of(x.type, of.alpha, "alpha");
      x.beta = factor_of(x.type, of.beta, "beta");
      take_options(words, x);
      matrix_at(of.a, "a");
      matrix_at(of.b, "b");
      check();
    };
    tessera::detail::run_on_all(*c.grid, "tessera_pmatrix_gemm", std::ref(read));
    run(x);
  });
}

} // namespace

tessera_pmatrix_options tessera_default_pmatrix_options(void) {
  return {sizeof(tessera_pmatrix_options), TESSERA_COLUMN_MAJOR, TESSERA_AUTO, -1};
}

tessera_status tessera_pmatrix_create(tessera_grid* grid, tessera_dtype type, int is_complex, int64_t rows,
                                      int64_t cols, int64_t row_block, int64_t col_block,
                                      const tessera_pmatrix_options* options, tessera_pmatrix** matrix) {
  if (matrix != nullptr) *matrix = nullptr;
  return guarded([&] {
    if (grid == nullptr) throw InvalidArgument("grid is null; make one with tessera_grid_create()");
    Wanted x;
    std::unique_ptr<tessera_pmatrix> made;
    const auto read = [&] {
      if (matrix == nullptr) throw InvalidArgument("matrix is null; pass the address of a tessera_pmatrix*");
      x.type = element_type(type, is_complex);
      take_options(options, x);
      made = std::make_unique<tessera_pmatrix>();
    };
    tessera::detail::run_on_all(*grid->state, "tessera_pmatrix_create", std::ref(read));
    made->storage = tessera::detail::create_distributed(grid->state, rows, cols, {row_block, col_block}, x.order,
                                                        x.type, x.residence.get());
    *matrix = made.release();
  });
}

void tessera_pmatrix_destroy(tessera_pmatrix* matrix) { delete matrix; }

tessera_status tessera_pmatrix_read(const tessera_pmatrix* matrix, const void** data, int64_t* ld) {
  return bring(matrix, false, data, ld);
}

tessera_status tessera_pmatrix_write(tessera_pmatrix* matrix, void** data, int64_t* ld) {
  return bring(matrix, true, data, ld);
}

tessera_status tessera_pmatrix_scatter(tessera_pmatrix* matrix, const void* whole, int64_t ld, int root) {
  return guarded([&] {
    tessera::detail::scatter({const_cast<void*>(whole), ld}, root, *matrix_at(matrix, "matrix").storage);
  });
}

tessera_status tessera_pmatrix_gather(const tessera_pmatrix* matrix, void* whole, int64_t ld, int root) {
  return guarded([&] {
    tessera::detail::gather(*matrix_at(matrix, "matrix").storage, root, tessera::detail::WholeMatrix{whole, ld});
  });
}

tessera_status tessera_pmatrix_gemm(tessera_op op_a, tessera_op op_b, const void* alpha, const tessera_pmatrix* a,
                                    const tessera_pmatrix* b, const void* beta, tessera_pmatrix* c,
                                    const tessera_pgemm_options* options) {
  return with_matrices(
      {op_a, op_b, alpha, beta, a, b, c}, options, [] {},
      [&](const Arguments& x) {
        tessera::detail::gemm(x.alpha, *a->storage, x.op_a, *b->storage, x.op_b, x.beta, *c->storage, x.options);
      });
}

tessera_status tessera_plan_pmatrix_gemm(tessera_op op_a, tessera_op op_b, const void* alpha, const tessera_pmatrix* a,
                                         const tessera_pmatrix* b, const void* beta, const tessera_pmatrix* c,
                                         const tessera_pgemm_options* options, tessera_pgemm_plan* plan) {
  return with_matrices(
      {op_a, op_b, alpha, beta, a, b, c}, options, [plan] { check_plan(plan); },
      [&](const Arguments& x) {
        *plan = plan_of(tessera::detail::plan_gemm(x.alpha, *a->storage, x.op_a, *b->storage, x.op_b, x.beta,
                                                   *c->storage, x.options));
      });
}
