/// Batches of linear systems in the C interface.

#include <tessera/linear_algebra/tessera_linear_algebra.h>

#include <tessera/linear_algebra/batch.hpp>

#include "c_api_linear_algebra.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// What a function writes in B's place.
enum class Place { OfSolutions, OfFactors };

using BatchFunction = void (*)(const tessera::detail::SystemBatch&, const SolveOptions&);

tessera::detail::SystemBatch batch_of(tessera::detail::NumberType type, Place place, const tessera_system_batch& x) {
  const bool has_pointers = x.all_b != nullptr;
  const tessera::detail::BatchMatrices a{.name = "a",
                                         .first = x.a,
                                         .all = has_pointers ? x.all_a : nullptr,
                                         .has_pointers = has_pointers,
                                         .ld = x.lda,
                                         .stride = x.stride_a};
  const tessera::detail::BatchMatrices b{
      .name = "b",
      .first = x.b,
      .all = reinterpret_cast<const void* const*>(x.all_b),
      .has_pointers = has_pointers,
      .ld = x.ldb,
      .stride = x.stride_b,
  };
  tessera::detail::SystemBatch call{
      .type = type, .m = x.n, .n = x.n, .columns = x.columns, .count = x.count, .pivots = x.pivots, .info = x.info};
  if (place == Place::OfFactors) {
    call.a = b;
    call.n = x.columns;
  } else {
    call.a = a;
    call.b = b;
  }
  return call;
}

/// Checks the words, and calls the function. `add` sets what else the call has.
template <class Add>
tessera_status run_batch(BatchFunction function, NumberWord word, Place place, const tessera_system_batch* batch,
                         const tessera_options* words, const Add& add) {
  return guarded([&] {
    const DType type = linear_algebra_type(word.part);
    const SolveOptions options = solve_options_of(words, type);
    if (batch == nullptr) throw InvalidArgument("batch is null; pass the address of a tessera_system_batch");
    if (batch->all_b == nullptr && batch->all_a != nullptr)
      throw InvalidArgument("batch.all_b is null, but batch.all_a is not; pass both, or none and strides");
    tessera::detail::SystemBatch call = batch_of({type, word.is_complex}, place, *batch);
    add(call);
    function(call, options);
  });
}

} // namespace

tessera_status tessera_solve_batch(tessera_dtype type, const tessera_system_batch* batch,
                                   const tessera_options* options) {
  return run_batch(tessera::detail::solve_batch, {type}, Place::OfSolutions, batch, options,
                   [](tessera::detail::SystemBatch&) {});
}

tessera_status tessera_solve_batch_complex(tessera_dtype type, const tessera_system_batch* batch,
                                           const tessera_options* options) {
  return run_batch(tessera::detail::solve_batch, {type, true}, Place::OfSolutions, batch, options,
                   [](tessera::detail::SystemBatch&) {});
}

tessera_status tessera_solve_positive_batch(tessera_dtype type, tessera_triangle triangle,
                                            const tessera_system_batch* batch, const tessera_options* options) {
  return run_batch(tessera::detail::solve_positive_batch, {type}, Place::OfSolutions, batch, options,
                   [&](tessera::detail::SystemBatch& call) {
                     call.triangle = c_api::checked(triangle, Triangle::Upper, "triangle");
                   });
}

tessera_status tessera_solve_positive_batch_complex(tessera_dtype type, tessera_triangle triangle,
                                                    const tessera_system_batch* batch, const tessera_options* options) {
  return run_batch(tessera::detail::solve_positive_batch, {type, true}, Place::OfSolutions, batch, options,
                   [&](tessera::detail::SystemBatch& call) {
                     call.triangle = c_api::checked(triangle, Triangle::Upper, "triangle");
                   });
}

tessera_status tessera_inverse_batch(tessera_dtype type, const tessera_system_batch* batch,
                                     const tessera_options* options) {
  return run_batch(tessera::detail::inverse_batch, {type}, Place::OfSolutions, batch, options,
                   [](tessera::detail::SystemBatch&) {});
}

tessera_status tessera_inverse_batch_complex(tessera_dtype type, const tessera_system_batch* batch,
                                             const tessera_options* options) {
  return run_batch(tessera::detail::inverse_batch, {type, true}, Place::OfSolutions, batch, options,
                   [](tessera::detail::SystemBatch&) {});
}

tessera_status tessera_lu_batch(tessera_dtype type, const tessera_system_batch* batch, const tessera_options* options) {
  return run_batch(tessera::detail::lu_batch, {type}, Place::OfFactors, batch, options,
                   [](tessera::detail::SystemBatch&) {});
}

tessera_status tessera_lu_batch_complex(tessera_dtype type, const tessera_system_batch* batch,
                                        const tessera_options* options) {
  return run_batch(tessera::detail::lu_batch, {type, true}, Place::OfFactors, batch, options,
                   [](tessera::detail::SystemBatch&) {});
}

tessera_status tessera_lu_solve_batch(tessera_dtype type, tessera_op op, const tessera_system_batch* batch,
                                      const tessera_options* options) {
  return run_batch(tessera::detail::lu_solve_batch, {type}, Place::OfSolutions, batch, options,
                   [&](tessera::detail::SystemBatch& call) { call.op = c_api::checked(op, "op"); });
}

tessera_status tessera_lu_solve_batch_complex(tessera_dtype type, tessera_op op, const tessera_system_batch* batch,
                                              const tessera_options* options) {
  return run_batch(tessera::detail::lu_solve_batch, {type, true}, Place::OfSolutions, batch, options,
                   [&](tessera::detail::SystemBatch& call) { call.op = c_api::checked(op, "op"); });
}

tessera_status tessera_cholesky_batch(tessera_dtype type, tessera_triangle triangle, const tessera_system_batch* batch,
                                      const tessera_options* options) {
  return run_batch(tessera::detail::cholesky_batch, {type}, Place::OfFactors, batch, options,
                   [&](tessera::detail::SystemBatch& call) {
                     call.triangle = c_api::checked(triangle, Triangle::Upper, "triangle");
                   });
}

tessera_status tessera_cholesky_batch_complex(tessera_dtype type, tessera_triangle triangle,
                                              const tessera_system_batch* batch, const tessera_options* options) {
  return run_batch(tessera::detail::cholesky_batch, {type, true}, Place::OfFactors, batch, options,
                   [&](tessera::detail::SystemBatch& call) {
                     call.triangle = c_api::checked(triangle, Triangle::Upper, "triangle");
                   });
}

tessera_status tessera_cholesky_solve_batch(tessera_dtype type, tessera_triangle triangle,
                                            const tessera_system_batch* batch, const tessera_options* options) {
  return run_batch(tessera::detail::cholesky_solve_batch, {type}, Place::OfSolutions, batch, options,
                   [&](tessera::detail::SystemBatch& call) {
                     call.triangle = c_api::checked(triangle, Triangle::Upper, "triangle");
                   });
}

tessera_status tessera_cholesky_solve_batch_complex(tessera_dtype type, tessera_triangle triangle,
                                                    const tessera_system_batch* batch, const tessera_options* options) {
  return run_batch(tessera::detail::cholesky_solve_batch, {type, true}, Place::OfSolutions, batch, options,
                   [&](tessera::detail::SystemBatch& call) {
                     call.triangle = c_api::checked(triangle, Triangle::Upper, "triangle");
                   });
}
