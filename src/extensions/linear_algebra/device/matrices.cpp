#include "matrices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "steps.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Takes the norm of A, and factors it by run(steps, place, begins), which returns where the factorisation fails.
template <class Run>
std::optional<Factored> factored(const Whole& a, bool is_symmetric, const SolveOptions& options, const Run& run) {
  const Index m = a.rows(), n = a.cols();
  Executor* const executor = device_of(options, {m, n, std::min(m, n)}, {&a.parts}, a.is_complex);
  if (executor == nullptr) return std::nullopt;
  return unless_refused({&a.parts}, [&](bool& begins) {
    const Steps steps(*executor, a.type(), a.is_complex);
    const Place place = steps.place(write_on(a.parts, *executor, false));
    const detail::ScaledNumber norm = steps.norm_1(m, n, place, is_symmetric);
    const Index failed = run(steps, place, begins);
    written_on(a.parts, *executor);
    return Factored{failed, norm};
  });
}

/// Memory for a matrix, if it is needed.
class Copy {
 public:
  Copy(const Steps& steps, bool is_needed, Index rows, Index cols) {
    if (!is_needed) return;
    memory_.emplace(steps.array(rows, cols));
    place_ = steps.place(*memory_, cols);
  }
  Place place() const { return place_; }

 private:
  std::optional<DeviceArray> memory_;
  Place place_;
};

/// A system on the device. An upper triangle is a lower one when rows and columns are counted from the last; X·op(T) =
/// B is op(T)ᵀ·Xᵀ = Bᵀ, but for the order of complex factors. The constructor takes all memory.
class System {
 public:
  System(const Steps& steps, const detail::TriangularForm& form, Index n, Index count)
      : steps_(steps),
        n_(n),
        count_(count),
        is_right_(form.side == Side::Right),
        conjugates_(steps.is_complex() && form.op == Op::ConjugateTranspose),
        turns_((form.op == Op::None) == is_right_),
        is_reversed_((form.triangle == Triangle::Lower) == turns_),
        has_unit_diagonal_(form.diagonal == Diagonal::Unit),
        are_rows_(is_right_ && steps.is_complex()),
        turned_(steps, turns_ || conjugates_, n, n),
        turned_back_(steps, conjugates_ && !turns_, n, n),
        reversed_(steps, is_reversed_, n, n),
        lines_(steps, is_right_ && !are_rows_, n, count),
        reversed_lines_(steps, is_reversed_, are_rows_ ? count : n, are_rows_ ? n : count),
        sums_(steps, true, are_rows_ ? count : most_panel_columns, are_rows_ ? most_panel_columns : count) {
    steps.expect_memory_of_products();
  }

  /// X takes the place of B. `begins` is as in solve_lower().
  void solve(Place t, Place x, bool& begins) const {
    if (turns_ || conjugates_) {
      steps_.transpose(n_, n_, t, turned_.place(), conjugates_);
      t = turned_.place();
    }
    if (conjugates_ && !turns_) {
      steps_.transpose(n_, n_, t, turned_back_.place());
      t = turned_back_.place();
    }
    if (is_reversed_) {
      reverse(n_, n_, t, reversed_.place());
      t = reversed_.place();
    }
    const bool turns_lines = is_right_ && !are_rows_;
    const Place lines = turns_lines ? lines_.place() : x;
    if (turns_lines) steps_.transpose(n_, count_, x, lines);
    const Place unknowns = is_reversed_ ? reversed_lines_.place() : lines;
    if (is_reversed_) reverse_lines(lines, unknowns);
    solve_lower(steps_, {.n = n_, .t = t, .has_unit_diagonal = has_unit_diagonal_},
                {.count = count_, .x = unknowns, .are_rows = are_rows_}, sums_.place(), begins);
    if (is_reversed_) reverse_lines(unknowns, lines);
    if (turns_lines) steps_.transpose(count_, n_, lines, x);
  }

 private:
  void reverse_lines(Place from, Place to) const {
    if (are_rows_)
      reverse(count_, n_, from, to, false, true);
    else
      reverse(n_, count_, from, to, true, false);
  }
  void reverse(Index rows, Index cols, Place from, Place to, bool keeps_columns = false,
               bool keeps_rows = false) const {
    steps_.panel({.op = PanelOp::Reverse,
                  .rows = rows,
                  .cols = cols,
                  .a = to.data,
                  .lda = to.ld,
                  .x = from.data,
                  .ldx = from.ld,
                  .keep_columns = keeps_columns,
                  .keep_rows = keeps_rows});
  }

  const Steps& steps_;
  Index n_, count_;
  bool is_right_, conjugates_, turns_, is_reversed_, has_unit_diagonal_;
  bool are_rows_; ///< the unknowns are rows of X, which stay where they are
  Copy turned_, turned_back_, reversed_, lines_, reversed_lines_, sums_;
};

/// Solves a real system of few unknowns by one step, where the device has it. A matrix whose rows or columns are
/// counted from the last has negative steps.
bool solve_at_once(const Steps& steps, const detail::TriangularForm& form, Index n, Index count, Place t, Place x) {
  if (steps.is_complex() || count > most_unknown_columns(n)) return false;
  PanelCall call{.op = PanelOp::SolveTriangle,
                 .rows = n,
                 .cols = count,
                 .lda = x.ld,
                 .ldt = t.ld,
                 .has_unit_diagonal = form.diagonal == Diagonal::Unit};
  const bool is_right = form.side == Side::Right, turns = (form.op == Op::None) == is_right;
  if (is_right) std::swap(call.lda, call.a_step);
  if (turns) std::swap(call.ldt, call.t_step);
  const bool is_reversed = (form.triangle == Triangle::Lower) == turns;
  const Index last = is_reversed ? n - 1 : 0;
  call.a = x.data + last * call.lda * x.element;
  call.t = t.data + last * (t.ld + 1) * t.element;
  if (is_reversed) {
    call.lda = -call.lda;
    call.ldt = -call.ldt;
    call.t_step = -call.t_step;
  }
  return steps.try_panel(call);
}

} // namespace

std::optional<Factored> factor_lu(const Whole& a, std::span<Index> pivots, const SolveOptions& options) {
  return factored(a, false, options, [&](const Steps& steps, Place place, bool& begins) {
    return Elimination(steps, a.rows(), a.cols(), place).run(pivots, begins);
  });
}

std::optional<Factored> factor_cholesky(const Whole& a, const SolveOptions& options) {
  return factored(a, true, options, [&](const Steps& steps, Place place, bool& begins) {
    return PositiveFactor(steps, a.rows(), place).run(begins);
  });
}

bool solve(const detail::TriangularForm& form, const Whole& t, const Whole& x, const SolveOptions& options) {
  const Index n = t.rows(), count = form.side == Side::Left ? x.cols() : x.rows();
  Executor* const executor = device_of(options, {n, count, n}, {&t.parts, &x.parts}, t.is_complex);
  if (executor == nullptr) return false;
  return unless_refused({&t.parts, &x.parts},
                        [&](bool& begins) {
                          const Steps steps(*executor, t.type(), t.is_complex);
                          detail::DeviceHold holds_t(t.parts, *executor);
                          const Place triangle = steps.place(holds_t.read());
                          const Place unknowns = steps.place(write_on(x.parts, *executor, false));
                          if (!solve_at_once(steps, form, n, count, triangle, unknowns))
                            System(steps, form, n, count).solve(triangle, unknowns, begins);
                          written_on(x.parts, *executor);
                          return true;
                        })
      .has_value();
}

bool exchange_rows(std::span<const Index> pivots, bool ascends, const Whole& x, const SolveOptions& options) {
  const Index m = x.rows(), n = x.cols();
  Executor* const executor = device_of(options, {m, n, m}, {&x.parts}, x.is_complex);
  if (executor == nullptr) return false;
  return unless_refused({&x.parts},
                        [&](bool& begins) {
                          const Steps steps(*executor, x.type(), x.is_complex);
                          Place place = steps.place(write_on(x.parts, *executor, false));
                          std::vector<Index> ordered(pivots.begin(), pivots.end());
                          if (!ascends) { // in descending order, rows are counted from the last
                            const Index last = m - 1;
                            for (std::size_t j = 0; j < pivots.size(); ++j)
                              ordered[pivots.size() - 1 - j] = last - pivots[j];
                            place = place.at(last, 0);
                            place.ld = -place.ld;
                          }
                          const DeviceArray numbers = steps.numbers(static_cast<Index>(ordered.size()));
                          steps.write(numbers.as<Index>(), std::span<const Index>(ordered));
                          steps.panel({.op = PanelOp::ExchangeRows,
                                       .rows = m,
                                       .cols = n,
                                       .a = place.data,
                                       .lda = place.ld,
                                       .numbers = numbers.as<Index>(),
                                       .count = static_cast<Index>(ordered.size())});
                          begins = true;
                          written_on(x.parts, *executor);
                          return true;
                        })
      .has_value();
}

} // namespace tessera::linear_algebra::device
