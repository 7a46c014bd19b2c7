#include "system.hpp"

#include <utility>

namespace tessera::linear_algebra::device {

/// Says no where the device lacks the step. A matrix whose rows or columns are counted from the last has negative
/// steps.
bool System::solve_at_once(Place t, Place x) const {
  PanelCall call{.op = PanelOp::SolveTriangle,
                 .rows = n_,
                 .cols = count_,
                 .lda = x.ld,
                 .ldt = t.ld,
                 .has_unit_diagonal = form_.diagonal == Diagonal::Unit};
  const bool is_right = form_.side == Side::Right, turns = (form_.op == Op::None) == is_right;
  if (is_right) std::swap(call.lda, call.a_step);
  if (turns) std::swap(call.ldt, call.t_step);
  const bool is_reversed = (form_.triangle == Triangle::Lower) == turns;
  const Index last = is_reversed ? n_ - 1 : 0;
  call.a = x.data + last * call.lda * x.element;
  call.t = t.data + last * (t.ld + 1) * t.element;
  if (is_reversed) {
    call.lda = -call.lda;
    call.ldt = -call.ldt;
    call.t_step = -call.t_step;
  }
  return steps_.try_panel(call);
}

} // namespace tessera::linear_algebra::device
