/// Certificates in the C interface.

#include <vector>

#include <tessera/checking/check.hpp>

#include "c_api.hpp"
#include "core/base/cut_text.hpp"
#include "core/batch/batch_operand.hpp"
#include "extensions/checking/certificate/arguments.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// The sizes and operations of a product, as the caller gave them.
struct Sizes {
  Op op_a, op_b;
  GemmShape shape;
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

tessera_check_options checked_options(const tessera_check_options* words) {
  if (words == nullptr) return tessera_default_check_options();
  if (words->size != sizeof(tessera_check_options))
    throw InvalidArgument("options.size = " + std::to_string(words->size) + ", but this library's is " +
                          std::to_string(sizeof(tessera_check_options)) +
                          "; start from tessera_default_check_options()");
  if (const std::string why = count_mistake("options.count", words->count); !why.empty())
    throw InvalidArgument("check: " + why);
  return *words;
}

/// Returns the epilogue's bias as a matrix. Its step is a leading dimension.
CheckedMatrix bias_of(const Epilogue& epilogue, CheckedType type, const Sizes& sizes) {
  if (epilogue.bias_step < 1)
    throw InvalidArgument("epilogue.bias_step = " + std::to_string(epilogue.bias_step) +
                          " is less than 1, the step of neighbours");
  const int64_t count = epilogue.bias_per == BiasPer::Row ? sizes.shape.m : sizes.shape.n;
  return {type, epilogue.bias,      count,
          1,    epilogue.bias_step, epilogue.bias_per == BiasPer::Row ? Op::None : Op::Transpose};
}

/// The arguments of a check, which describe `options.count` products.
struct CheckedBatch {
  Sizes sizes;
  CheckedType type_c;
  CheckedMatrix a, b, c; ///< of the first product
  Epilogue epilogue;
  tessera_check_options options;

  bool has_c_before() const { return options.c_before != nullptr || options.all_c_before != nullptr; }
  CheckedMatrix c_before() const {
    return matrix(type_c, options.c_before, sizes.shape.m, sizes.shape.n, options.ld_c_before);
  }
  CheckedMatrix residual() const {
    return matrix(type_c, epilogue.residual, sizes.shape.m, sizes.shape.n, epilogue.ld_residual);
  }
  CheckedMatrix result(int64_t p) const { return at(c, options.stride_c, options.all_c, p); }
  CheckedProduct product(int64_t p) const {
    CheckedProduct one{at(a, options.stride_a, options.all_a, p), at(b, options.stride_b, options.all_b, p)};
    if (has_c_before()) one.c_before = at(c_before(), options.stride_c_before, options.all_c_before, p);
    if (epilogue.bias_per != BiasPer::None) one.bias = bias_of(epilogue, type_c, sizes);
    if (epilogue.residual != nullptr) one.residual = moved(residual(), options.stride_residual, p);
    return one;
  }
};

/// Checks the first product, and that all others lie within the address space.
void check_extents(const CheckedBatch& x, const CheckOptions& choices) {
  const tessera_check_options& words = x.options;
  if (words.count < 2) return; // check_batch() checks a single product
  const CheckedProduct first = x.product(0);
  const certificate::Kind kind = certificate::kind_of(x.a.type, x.b.type, x.type_c, choices.math);
  certificate::problem_of(first, kind, choices, "product 0: ");
  certificate::check_result(first, x.result(0), kind, "product 0: ");
  const auto check = [&](const char* name, const CheckedMatrix& one, int64_t stride, const void* const* all) {
    if (all != nullptr) return;
    const StoredRows rows{one.data, one.rows, one.cols, one.ld, tessera::checked_type(one.type).bytes};
    if (const std::string why = stride_mistake(name, rows, stride, words.count); !why.empty())
      throw InvalidArgument("check: " + why);
  };
  check("options.stride_a", x.a, words.stride_a, words.all_a);
  check("options.stride_b", x.b, words.stride_b, words.all_b);
  check("options.stride_c", x.c, words.stride_c, words.all_c);
  if (x.has_c_before()) check("options.stride_c_before", x.c_before(), words.stride_c_before, words.all_c_before);
  if (x.epilogue.residual != nullptr) check("options.stride_residual", x.residual(), words.stride_residual, nullptr);
}

/// Returns memory for all products, or says that there is none before any of it is filled.
template <class T>
std::vector<T> room_for(int64_t count) {
  std::vector<T> all;
  if (static_cast<size_t>(count) > all.max_size())
    throw OutOfMemory("check: there is no memory for the descriptions of options.count = " + std::to_string(count) +
                      " products");
  all.reserve(static_cast<size_t>(count));
  return all;
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
    const tessera_check_options words = checked_options(options);
    const Sizes sizes{c_api::checked(op_a, "op_a"), c_api::checked(op_b, "op_b"), {.m = m, .n = n, .k = k}};
    const CheckedBatch x{.sizes = sizes,
                         .type_c = type_of(type_c),
                         .a = matrix(type_of(type_a), a, m, k, lda, sizes.op_a),
                         .b = matrix(type_of(type_b), b, k, n, ldb, sizes.op_b),
                         .c = matrix(type_of(type_c), c, m, n, ldc),
                         .epilogue = epilogue_of(words.epilogue),
                         .options = words};
    const CheckOptions choices{.math = c_api::checked(words.math, last_math, "options.math"),
                               .alpha = words.alpha,
                               .beta = words.beta,
                               .activation = x.epilogue.activation,
                               .seed = words.seed,
                               .rows = words.rows,
                               .vectors = words.vectors,
                               .threads = words.threads};
    check_extents(x, choices);
    auto products = room_for<CheckedProduct>(words.count);
    auto results = room_for<CheckedMatrix>(words.count);
    for (int64_t p = 0; p < words.count; ++p) {
      products.push_back(x.product(p));
      results.push_back(x.result(p));
    }
    fill(check_batch(products, results, choices), *certificate);
  });
}
