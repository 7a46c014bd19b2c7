#include "matrices.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "choice.hpp"
#include "steps.hpp"

namespace tessera::linear_algebra::device {
namespace {

/// Takes the norm of A, and factors it by run(steps, place, begins), which returns where the factorisation fails.
template <class Run>
std::optional<Factored> factored(const detail::Operand& a, bool is_symmetric, const SolveOptions& options,
                                 const Run& run) {
  Executor* const executor = device_of(options, {a.rows, a.cols, std::min(a.rows, a.cols)}, {&a});
  if (executor == nullptr) return std::nullopt;
  return unless_refused({&a}, [&](bool& begins) {
    const Steps steps(*executor, a.storage->type());
    const Place place = steps.place(write_on(a, *executor, false));
    const detail::ScaledNumber norm = steps.norm_1(a.rows, a.cols, place, is_symmetric);
    const Index failed = run(steps, place, begins);
    written_on(a, *executor);
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
/// B is op(T)ᵀ·Xᵀ = Bᵀ. The constructor takes all memory.
class System {
 public:
  System(const Steps& steps, const detail::TriangularForm& form, Index n, Index count)
      : steps_(steps),
        n_(n),
        count_(count),
        is_right_(form.side == Side::Right),
        turns_((form.op == Op::None) == is_right_),
        is_reversed_((form.triangle == Triangle::Lower) == turns_),
        has_unit_diagonal_(form.diagonal == Diagonal::Unit),
        turned_(steps, turns_, n, n),
        reversed_(steps, is_reversed_, n, n),
        lines_(steps, is_right_, n, count),
        reversed_lines_(steps, is_reversed_, n, count),
        sums_(steps, true, most_panel_columns, count) {}

  void solve(Place t, Place x) const {
    if (turns_) {
      steps_.transpose(n_, n_, t, turned_.place());
      t = turned_.place();
    }
    if (is_reversed_) {
      reverse(n_, false, t, reversed_.place());
      t = reversed_.place();
    }
    const Place lines = is_right_ ? lines_.place() : x;
    if (is_right_) steps_.transpose(n_, count_, x, lines);
    const Place unknowns = is_reversed_ ? reversed_lines_.place() : lines;
    if (is_reversed_) reverse(count_, true, lines, unknowns);
    solve_lower(steps_, {.n = n_, .t = t, .has_unit_diagonal = has_unit_diagonal_}, count_, unknowns, sums_.place());
    if (is_reversed_) reverse(count_, true, unknowns, lines);
    if (is_right_) steps_.transpose(count_, n_, lines, x);
  }

 private:
  void reverse(Index cols, bool keeps_columns, Place from, Place to) const {
    steps_.panel({.op = PanelOp::Reverse,
                  .rows = n_,
                  .cols = cols,
                  .a = to.data,
                  .lda = to.ld,
                  .x = from.data,
                  .ldx = from.ld,
                  .keep_columns = keeps_columns});
  }

  const Steps& steps_;
  Index n_, count_;
  bool is_right_, turns_, is_reversed_, has_unit_diagonal_;
  Copy turned_, reversed_, lines_, reversed_lines_, sums_;
};

/// Solves a system of few unknowns by one step, where the device has it. A matrix whose rows or columns are counted
/// from the last has negative steps.
bool solve_at_once(const Steps& steps, const detail::TriangularForm& form, Index n, Index count, Place t, Place x) {
  if (count > most_unknown_columns(n)) return false;
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

void solve_there(const Steps& steps, const detail::TriangularForm& form, Index n, Index count, Place t, Place x) {
  if (!solve_at_once(steps, form, n, count, t, x)) System(steps, form, n, count).solve(t, x);
}

std::optional<Factored> factor_lu(const detail::Operand& a, std::span<Index> pivots, const SolveOptions& options) {
  return factored(a, false, options, [&](const Steps& steps, Place place, bool& begins) {
    return Elimination(steps, a.rows, a.cols, place).run(pivots, begins);
  });
}

std::optional<Factored> factor_cholesky(const detail::Operand& a, const SolveOptions& options) {
  return factored(a, true, options, [&](const Steps& steps, Place place, bool& begins) {
    const PositiveFactor factor(steps, a.rows, place);
    begins = true;
    return factor.run();
  });
}

bool solve(const detail::TriangularForm& form, const detail::Operand& t, const detail::Operand& x,
           const SolveOptions& options) {
  const Index n = t.rows, count = form.side == Side::Left ? x.cols : x.rows;
  Executor* const executor = device_of(options, {n, count, n}, {&t, &x});
  if (executor == nullptr) return false;
  return unless_refused({&t, &x},
                        [&](bool& begins) {
                          const Steps steps(*executor, t.storage->type());
                          detail::DeviceHold holds_t(t, *executor);
                          const Place triangle = steps.place(holds_t.read());
                          const Place unknowns = steps.place(write_on(x, *executor, false));
                          if (!solve_at_once(steps, form, n, count, triangle, unknowns)) {
                            const System system(steps, form, n, count);
                            begins = true;
                            system.solve(triangle, unknowns);
                          }
                          written_on(x, *executor);
                          return true;
                        })
      .has_value();
}

bool exchange_rows(std::span<const Index> pivots, bool ascends, const detail::Operand& x, const SolveOptions& options) {
  Executor* const executor = device_of(options, {x.rows, x.cols, x.rows}, {&x});
  if (executor == nullptr) return false;
  return unless_refused({&x},
                        [&](bool& begins) {
                          const Steps steps(*executor, x.storage->type());
                          Place place = steps.place(write_on(x, *executor, false));
                          std::vector<Index> ordered(pivots.begin(), pivots.end());
                          if (!ascends) { // in descending order, rows are counted from the last
                            const Index last = x.rows - 1;
                            for (std::size_t j = 0; j < pivots.size(); ++j)
                              ordered[pivots.size() - 1 - j] = last - pivots[j];
                            place = place.at(last, 0);
                            place.ld = -place.ld;
                          }
                          const DeviceArray numbers = steps.numbers(static_cast<Index>(ordered.size()));
                          steps.write(numbers.as<Index>(), std::span<const Index>(ordered));
                          begins = true;
                          steps.panel({.op = PanelOp::ExchangeRows,
                                       .rows = x.rows,
                                       .cols = x.cols,
                                       .a = place.data,
                                       .lda = place.ld,
                                       .numbers = numbers.as<Index>(),
                                       .count = static_cast<Index>(ordered.size())});
                          written_on(x, *executor);
                          return true;
                        })
      .has_value();
}

} // namespace tessera::linear_algebra::device
