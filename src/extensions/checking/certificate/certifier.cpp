#include <algorithm>
#include <cmath>
#include <new>

#include <tessera/backend.hpp>
#include <tessera/checking/check.hpp>
#include <tessera/detail/floating_point.hpp>

#include "diagnose.hpp"
#include "one_product.hpp"
#include "totals.hpp"

namespace tessera {

using certificate::AnyProduct;
using certificate::Effort;
using certificate::Kind;
using certificate::OneProduct;

struct Certifier::State {
  std::vector<CheckedProduct> operands;
  std::vector<AnyProduct> products;
  Kind kind;
  Math math = Math::Strict;
};

namespace {

/// The number of products of elements that comparisons of a certificate compute: this many, or this part of the whole
/// work, and half as much in f64. docs/lab/check_cost.md has the times. After an activation Freivalds' check covers
/// less, and more is compared.
constexpr double least_work = 0x1p25;
constexpr double part_of_work = 1.0 / 2048;
constexpr double part_in_f64 = 0.5;
constexpr double more_after_activation = 8;
/// Rows that Freivalds' check finds and that are compared with their elements, in each product.
constexpr Index most_found = 8;

double work_of(const CheckedProduct& x) {
  return static_cast<double>(x.a.logical_rows()) * static_cast<double>(x.b.logical_cols()) *
         static_cast<double>(x.a.logical_cols());
}

std::string where(std::size_t index, std::size_t count) {
  return count > 1 ? "product " + std::to_string(index) + ": " : "";
}

/// Returns how many rows of this product are compared.
Index rows_of(const CheckedProduct& x, DType scalar, double all_work, Index all_rows, const CheckOptions& options) {
  const Index m = x.a.logical_rows();
  if (options.rows > 0) {
    const double share = std::ceil(static_cast<double>(options.rows) * static_cast<double>(m) /
                                   static_cast<double>(std::max<Index>(all_rows, 1)));
    return static_cast<Index>(std::min(share, static_cast<double>(m)));
  }
  const double work = work_of(x);
  if (work == 0) return m;
  double allowed = std::max(least_work, all_work * part_of_work);
  if (scalar == DType::F64) allowed *= part_in_f64;
  if (options.activation != Activation::None) allowed *= more_after_activation;
  const double rows = std::ceil(allowed / all_work * static_cast<double>(m));
  return static_cast<Index>(std::clamp(rows, std::min(1.0, static_cast<double>(m)), static_cast<double>(m)));
}

void check_options(const CheckOptions& options) {
  const auto refuse = [](const std::string& why) { throw InvalidArgument("check: " + why); };
  if (options.rows < 0) refuse("rows = " + std::to_string(options.rows) + " is negative; 0: as many as are cheap");
  if (options.vectors < -1)
    refuse("vectors = " + std::to_string(options.vectors) + "; pass a number, 0 for 16, or -1 for none");
  if (options.threads < 0) refuse("threads = " + std::to_string(options.threads) + " is negative; 0 means the default");
}

AnyProduct make_product(const compare::RowProblem& problem, const Kind& kind, const Effort& effort) {
  if (kind.scalar == DType::F64) return OneProduct<double>(problem, kind, effort);
  return OneProduct<float>(problem, kind, effort);
}

} // namespace

Certifier::Certifier(std::vector<CheckedProduct> products, CheckedType result, const CheckOptions& options) try {
  const detail::ContractArithmetic contract;
  check_options(options);
  auto state = std::make_unique<State>();
  state->math = options.math;
  if (!products.empty())
    state->kind = certificate::kind_of(products[0].a.type, products[0].b.type, result, options.math);
  std::vector<compare::RowProblem> problems;
  double all_work = 0;
  Index all_rows = 0;
  for (std::size_t p = 0; p < products.size(); ++p) {
    problems.push_back(certificate::problem_of(products[p], state->kind, options, where(p, products.size())));
    all_work += work_of(products[p]);
    all_rows += problems.back().m();
  }
  const int threads = options.threads > 0 ? options.threads : default_threads();
  for (std::size_t p = 0; p < products.size(); ++p) {
    Effort effort{.rows = rows_of(products[p], state->kind.scalar, all_work, all_rows, options),
                  .seed = options.seed + p,
                  .threads = threads};
    const bool all_compared = effort.rows >= problems[p].m();
    const bool wanted = options.vectors > 0 || (options.vectors == 0 && !all_compared);
    if (wanted && problems[p].m() > 0 && problems[p].n() > 0 && options.activation != Activation::Gelu)
      effort.bundles = std::max<Index>(1, (options.vectors + compare::lanes - 1) / compare::lanes);
    state->products.push_back(make_product(problems[p], state->kind, effort));
  }
  state->operands = std::move(products);
  state_ = std::move(state);
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for a check of " + std::to_string(products.size()) +
                    " products; compare fewer rows");
}

Certifier::~Certifier() = default;
Certifier::Certifier(Certifier&&) noexcept = default;
Certifier& Certifier::operator=(Certifier&&) noexcept = default;

Certificate Certifier::check(std::span<const CheckedMatrix> c) const try {
  const detail::ContractArithmetic contract;
  const std::size_t count = state_->products.size();
  if (c.size() != count)
    throw InvalidArgument("check: " + std::to_string(c.size()) + " results of " + std::to_string(count) + " products");
  for (std::size_t p = 0; p < count; ++p)
    certificate::check_result(state_->operands[p], c[p], state_->kind, where(p, count));

  certificate::Totals totals;
  Certificate& answer = totals.certificate;
  answer.math = state_->math;
  answer.products = static_cast<Index>(count);
  answer.type_a = state_->kind.a;
  answer.type_b = state_->kind.b;
  answer.type_c = state_->kind.c;
  if (count > 0) {
    answer.m = state_->operands[0].a.logical_rows();
    answer.n = state_->operands[0].b.logical_cols();
    answer.k = state_->operands[0].a.logical_cols();
  }
  for (std::size_t p = 0; p < count; ++p)
    std::visit(
        [&](const auto& product) {
          const compare::ElementSource result = compare::ElementSource::of(c[p]);
          const auto found = product.check(result, most_found);
          totals.add(static_cast<Index>(p), product, found);
          if (answer.findings.empty()) answer.findings = certificate::diagnose(product, result, found);
        },
        state_->products[p]);
  totals.finish();
  return std::move(totals.certificate);
} catch (const std::bad_alloc&) {
  throw OutOfMemory("out of host memory for a check of " + std::to_string(c.size()) + " results; compare fewer rows");
}

double Certifier::row_bound(Index product, Index row) const {
  if (product < 0 || static_cast<std::size_t>(product) >= state_->products.size())
    throw InvalidArgument("check: product " + std::to_string(product) + " of " +
                          std::to_string(state_->products.size()));
  return std::visit(
      [&](const auto& one) {
        if (row < 0 || row >= one.problem().m())
          throw InvalidArgument("check: row " + std::to_string(row) + " of " + std::to_string(one.problem().m()));
        return one.rows() ? one.rows()->limit(row, one.bound()) : -1.0;
      },
      state_->products[static_cast<std::size_t>(product)]);
}

Certificate check(const CheckedProduct& product, const CheckedMatrix& c, const CheckOptions& options) {
  return check_batch(std::span(&product, 1), std::span(&c, 1), options);
}

Certificate check_batch(std::span<const CheckedProduct> products, std::span<const CheckedMatrix> c,
                        const CheckOptions& options) {
  if (products.size() != c.size())
    throw InvalidArgument("check: " + std::to_string(c.size()) + " results of " + std::to_string(products.size()) +
                          " products");
  const CheckedType result = c.empty() ? CheckedType::F32 : c[0].type;
  return Certifier({products.begin(), products.end()}, result, options).check(c);
}

} // namespace tessera
