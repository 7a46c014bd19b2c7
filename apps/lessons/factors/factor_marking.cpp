#include "factor_marking.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "build.hpp"
#include "cpu/counts.hpp"

namespace tessera::lessons {
namespace {

constexpr Index block = 64;   // of the textbook
constexpr double of_half = 2; // the adapter's sign for a panel

/// Each case has one difficulty that those before it do not have.
constexpr std::array all_factor_cases{
    FactorCase{.subject = "one element", .n = 1},
    FactorCase{.subject = "two rows", .n = 2},
    FactorCase{.subject = "a few rows", .n = 7},
    FactorCase{.subject = "one block", .n = block},
    FactorCase{.subject = "two whole blocks", .n = 2 * block},
    FactorCase{.subject = "three whole blocks", .n = 3 * block},
    FactorCase{.subject = "a block and one row", .n = block + 1},
    FactorCase{.subject = "a size that no block divides", .n = 150},
    FactorCase{.subject = "half of the columns", .n = 150, .is_panel = true},
    FactorCase{.subject = "f64", .n = 150, .type = DType::F64},
};

Case case_of(const FactorCase& tried) {
  return {.subject = tried.subject,
          .shape = {.m = tried.n + 1, .n = tried.n, .k = tried.n},
          .alpha = tried.is_panel ? of_half : 1,
          .type = tried.type};
}

Calls call_factors(const judge::KernelFile& kernel, const FactorCase& tried, const FactorProblem& problem,
                   const Limits& limits, int count) {
  Limits one = limits;
  one.threads = 1;
  Calls calls = call_kernel(kernel, case_of(tried), one, count, Data::WholeNumbers, &problem.a);
  if (calls.finding.mistake == Mistake::WritesOutside)
    calls.finding = {Mistake::WritesOutside,
                     "memory outside of the matrix, or of a vector, was written",
                     "Rows and columns are numbered from 0 to n − 1; the last block may be narrower than the others.",
                     {}};
  return calls;
}

std::string element(const char* matrix, Index i, Index j) { return fmt::format("{}({}, {})", matrix, i, j); }

/// Explains one wrong element, the first one.
class Explanation {
 public:
  Explanation(Work work, const FactorProblem& problem, const std::vector<double>& got, Index i, Index j)
      : x_(problem), got_(got), i_(i), j_(j), is_positive_(work == Work::Cholesky) {}

  Finding find() const {
    const double is = at(i_, j_), wanted = x_.wanted(i_, j_), before = x_.before(i_, j_);
    if (is_positive_ && j_ > i_)
      return {Mistake::OtherTriangle,
              fmt::format("{} above the diagonal has changed; the factor is below it", element("A", i_, j_)),
              "No row goes further than to its diagonal.",
              {}};
    if (std::isnan(is))
      return told(Mistake::NotANumber, "is NaN",
                  "Look for a root of a number that is not positive, a division by 0, or an element of a vector that "
                  "nothing was written to.");
    if (!is_positive_ && divides() && is_permuted())
      return told(Mistake::RowsApart, "belongs to another row",
                  "When rows change places, they do so as wholes: also left of the block, and right of it.");
    if (is == before && row_is_as_it_was()) return told(Mistake::AsItWas, "is as it was", as_it_was());
    if (divides() && is == wanted * pivot_of_column())
      return told(Mistake::NotDivided, "is not divided by the diagonal",
                  "Divide by the diagonal's element of column j.");
    if (i_ == j_ && is_positive_ && is == wanted * wanted)
      return told(Mistake::NoRoot, "has no root", "An element on the diagonal is the root of its sum.");
    if (is == before) return told(Mistake::AsItWas, "is as it was", as_it_was());
    if (j_ > 0 && static_cast<float>(is) == static_cast<float>(finished(before))) // a root rounds
      return told(Mistake::NothingSubtracted, "has nothing subtracted",
                  "Subtract what the columns before contribute, and divide or take the root then.");
    return told(Mistake::Elsewhere, fmt::format("is {:g}, and should be {:g}", is, wanted),
                "Compare each index with the loops on the rung's page.");
  }

 private:
  double at(Index i, Index j) const { return got_[static_cast<std::size_t>(i * x_.n + j)]; }
  double pivot_of_column() const { return x_.wanted(j_, j_); }
  bool divides() const { return i_ > j_; }
  double finished(double sum) const {
    if (divides()) return sum / pivot_of_column();
    return is_positive_ ? std::sqrt(sum) : sum;
  }
  /// Is more of the row as it was, although it should have changed?
  bool row_is_as_it_was() const {
    const Index end = std::min(x_.width, is_positive_ ? i_ + 1 : x_.n);
    for (Index j = j_ + 1; j < end; ++j)
      if (at(i_, j) != x_.before(i_, j)) return false;
    return j_ + 1 < end;
  }
  /// Has the column the right numbers below the diagonal, and some of them in other rows?
  bool is_permuted() const {
    std::vector<double> is, wanted;
    for (Index i = j_ + 1; i < x_.n; ++i) {
      is.push_back(at(i, j_));
      wanted.push_back(x_.wanted(i, j_));
    }
    std::sort(is.begin(), is.end());
    std::sort(wanted.begin(), wanted.end());
    return is == wanted;
  }
  std::string as_it_was() const {
    return j_ == 0       ? "Is every element of the result written?"
           : j_ >= block ? "The columns of the first blocks are right: go on with the block after them."
                         : "The columns before it are right: go on with this one.";
  }
  Finding told(Mistake mistake, const std::string& what, std::string look) const {
    return {mistake,
            fmt::format("{} {}; column by column it is the first that is wrong",
                        element(is_positive_ || i_ > j_ ? "L" : "U", i_, j_), what),
            std::move(look),
            {}};
  }

  const FactorProblem& x_;
  const std::vector<double>& got_;
  const Index i_, j_;
  const bool is_positive_;
};

/// Returns what is wrong with the pivots.
Finding wrong_pivots(const FactorProblem& problem, const double* pivots) {
  for (Index j = 0; j < problem.n; ++j) {
    const double is = pivots[j], wanted = problem.pivots[static_cast<std::size_t>(j)];
    if (is == wanted) continue;
    return {Mistake::WrongPivot,
            is == -1 ? fmt::format("pivots[{}] is not written", j)
            : wanted == -1
                ? fmt::format("pivots[{}] is written, and column {} is none of the columns that are factored", j, j)
                : fmt::format("pivots[{}] is {:g}, and at this step row {:g} has the largest element of column {}", j,
                              is, wanted, j),
            "Of the rows from j on, look for the largest |a(i, j)|, after everything was subtracted from the column.",
            {}};
  }
  return {};
}

} // namespace

std::span<const FactorCase> factor_cases() { return all_factor_cases; }

Finding diagnose_factors(Work work, const FactorProblem& problem, const std::vector<double>& got) {
  const Index n = problem.n;
  if (work == Work::Lu)
    if (Finding finding = wrong_pivots(problem, got.data() + n * n); !finding.none()) return finding;
  // In a block on the diagonal a product may leave anything above the diagonal, which belongs to no factor.
  const auto counts = [&](Index i, Index j) { return work == Work::Lu || j <= i || j / block > i / block; };
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i)
      if (counts(i, j) && got[static_cast<std::size_t>(i * n + j)] != problem.wanted(i, j))
        return Explanation(work, problem, got, i, j).find();
  return {};
}

FactorMark mark_factors(const Lesson& lesson, const judge::KernelFile& kernel, const Limits& limits) {
  FactorMark mark;
  for (const FactorCase& tried : all_factor_cases) {
    const bool is_panel = tried.is_panel && lesson.takes_panels;
    const FactorCase asked{tried.subject, tried.n, is_panel, tried.type};
    const FactorProblem problem = make_problem(lesson.work, tried.n, is_panel);
    const Calls calls = call_factors(kernel, asked, problem, limits, 2);
    if (!calls.output.empty()) mark.output = calls.output;
    mark.finding = calls.finding;
    for (std::size_t call = 0; call < calls.seen.size() && mark.finding.none(); ++call)
      mark.finding = diagnose_factors(lesson.work, problem, calls.seen[call].c);
    if (!mark.finding.none()) {
      mark.where = fmt::format("{} (n = {}{})", tried.subject, tried.n, tried.type == DType::F64 ? ", f64" : "");
      return mark;
    }
    ++mark.right;
  }
  return mark;
}

std::optional<double> count_factors(const Lesson& lesson, const std::filesystem::path& file, const Limits& limits) {
  const Built built(lesson, file, Purpose::Count);
  if (!built.is_good()) return std::nullopt;
  const judge::KernelFile kernel(built.library(), judge::Device::Cpu, {});
  const Index n = lesson.counted.n;
  Limits patient = limits;
  patient.seconds *= 4;
  const Calls calls = call_factors(kernel, {.subject = "", .n = n, .type = DType::F64},
                                   make_problem(lesson.work, n, false), patient, 1);
  if (calls.seen.empty()) return std::nullopt;
  Counts counts;
  std::memcpy(static_cast<void*>(&counts), calls.seen.front().c.data(), sizeof counts);
  const double size = static_cast<double>(n), all = size * size * size / (lesson.work == Work::Cholesky ? 6 : 3);
  if (lesson.counter == Counter::Misses) return 1000 * counts.misses / all;
  return counts.in_products < all / 2 ? size : counts.longest_product; // loops are chains of up to n terms
}

double time_factors(const Lesson& lesson, const judge::KernelFile& kernel, const Limits& limits) {
  constexpr int calls = 5;
  const Index n = lesson.race_size;
  return call_factors(kernel, {.subject = "", .n = n}, make_problem(lesson.work, n, false), limits, calls).seconds;
}

} // namespace tessera::lessons
