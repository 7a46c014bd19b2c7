/// Certificates in the C interface.

#include <vector>

#include <tessera/check.hpp>

#include "base/cut_text.hpp"
#include "c_api.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// The sizes and operations of a product, as the caller gave them.
struct Sizes {
  Op op_a, op_b;
  int64_t m, n, k;
};

CheckedType type_of(tessera_checked_type type) { return checked_type(static_cast<CheckedType>(type)).type; }

CheckedMatrix matrix(CheckedType type, const void* data, int64_t rows, int64_t cols, int64_t ld, Op op = Op::None) {
  return op == Op::None ? CheckedMatrix{type, data, rows, cols, ld, op} : CheckedMatrix{type, data, cols, rows, ld, op};
}

/// Returns the matrix of product `index`: the one of the list, or the first one moved on by strides.
CheckedMatrix at(CheckedMatrix first, int64_t stride, const void* const* all, int64_t index) {
  if (all == nullptr) return moved(first, stride, index);
  first.data = all[index];
  return first;
}

tessera_check_options checked(const tessera_check_options* words) {
  if (words == nullptr) return tessera_default_check_options();
  if (words->size != sizeof(tessera_check_options))
    throw InvalidArgument("options.size = " + std::to_string(words->size) + ", but this library's is " +
                          std::to_string(sizeof(tessera_check_options)) +
                          "; start from tessera_default_check_options()");
  if (words->count < 0) throw InvalidArgument("options.count = " + std::to_string(words->count) + " is negative");
  return *words;
}

/// Returns the epilogue's bias as a matrix. Its step is a leading dimension.
CheckedMatrix bias_of(const Epilogue& epilogue, CheckedType type, const Sizes& sizes) {
  if (epilogue.bias_step < 1)
    throw InvalidArgument("epilogue.bias_step = " + std::to_string(epilogue.bias_step) +
                          " is less than 1, the step of neighbours");
  const int64_t count = epilogue.bias_per == BiasPer::Row ? sizes.m : sizes.n;
  return {type, epilogue.bias,      count,
          1,    epilogue.bias_step, epilogue.bias_per == BiasPer::Row ? Op::None : Op::Transpose};
}

void fill(const Certificate& from, tessera_certificate& to) {
  to.verdict = static_cast<tessera_verdict>(from.verdict);
  to.vectors = from.vectors;
  to.rows = from.rows;
  to.rows_compared = from.rows_compared;
  to.rows_judged = from.rows_judged;
  to.rows_beyond = static_cast<int64_t>(from.rows_beyond.size());
  to.elements_beyond = from.error.beyond;
  to.max_over_bound = from.error.max_over_bound;
  to.row_over_bound = from.row_over_bound;
  to.max_abs = from.error.max_abs;
  to.max_rel = from.error.max_rel;
  to.norm_error = from.error.norm_error;
  to.norm_exact = from.error.norm_exact;
  to.probability_missed = from.probability_missed;
  const bool differs = !from.worst.empty();
  const WorstElement worst = differs ? from.worst.front().element : WorstElement{};
  to.worst_product = differs ? from.worst.front().product : -1;
  to.worst_row = worst.row;
  to.worst_col = worst.col;
  to.computed = worst.computed;
  to.exact = worst.exact;
  to.bound = worst.bound;
  to.blind_products = from.blind_products;
  cut_text(to_text(from).c_str(), to.text);
}

} // namespace

tessera_check_options tessera_default_check_options(void) {
  tessera_check_options options{};
  options.size = sizeof(tessera_check_options);
  options.alpha = 1;
  options.seed = 1;
  options.count = 1;
  return options;
}

tessera_status tessera_check(tessera_checked_type type_a, tessera_checked_type type_b, tessera_checked_type type_c,
                             tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, const void* a,
                             int64_t lda, const void* b, int64_t ldb, const void* c, int64_t ldc,
                             const tessera_check_options* options, tessera_certificate* certificate) {
  return guarded([&] {
    if (certificate == nullptr) throw InvalidArgument("certificate is null; pass the address of a tessera_certificate");
    if (certificate->size != sizeof(tessera_certificate))
      throw InvalidArgument("certificate.size = " + std::to_string(certificate->size) + ", but this library's is " +
                            std::to_string(sizeof(tessera_certificate)) + "; set it before the call");
    const tessera_check_options words = checked(options);
    const Sizes sizes{c_api::checked(op_a, "op_a"), c_api::checked(op_b, "op_b"), m, n, k};
    const CheckedType of_c = type_of(type_c);
    const Epilogue epilogue = epilogue_of(words.epilogue);
    const CheckedMatrix first_a = matrix(type_of(type_a), a, m, k, lda, sizes.op_a);
    const CheckedMatrix first_b = matrix(type_of(type_b), b, k, n, ldb, sizes.op_b);
    const CheckedMatrix first_c = matrix(of_c, c, m, n, ldc);
    std::vector<CheckedProduct> products;
    std::vector<CheckedMatrix> results;
    for (int64_t p = 0; p < words.count; ++p) {
      CheckedProduct product{at(first_a, words.stride_a, words.all_a, p), at(first_b, words.stride_b, words.all_b, p)};
      if (words.c_before != nullptr || words.all_c_before != nullptr)
        product.c_before =
            at(matrix(of_c, words.c_before, m, n, words.ld_c_before), words.stride_c_before, words.all_c_before, p);
      if (epilogue.bias_per != BiasPer::None) product.bias = bias_of(epilogue, of_c, sizes);
      if (epilogue.residual != nullptr)
        product.residual = moved(matrix(of_c, epilogue.residual, m, n, epilogue.ld_residual), words.stride_residual, p);
      products.push_back(product);
      results.push_back(at(first_c, words.stride_c, words.all_c, p));
    }
    fill(check_batch(products, results,
                     {.math = c_api::checked(words.math, last_math, "options.math"),
                      .alpha = words.alpha,
                      .beta = words.beta,
                      .activation = epilogue.activation,
                      .seed = words.seed,
                      .rows = words.rows,
                      .vectors = words.vectors,
                      .threads = words.threads}),
         *certificate);
  });
}
