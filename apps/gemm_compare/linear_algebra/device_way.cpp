#include "device_way.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/lu.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/queue.hpp>
#include <tessera/status.hpp>

namespace tessera::compare_app {
namespace {

bool has_right_hand_side(SystemKind kind) {
  return kind == SystemKind::Trsm || kind == SystemKind::Posv || kind == SystemKind::Gesv;
}

template <class T>
class MatrixRun final : public SystemRun<T> {
 public:
  MatrixRun(SystemKind kind, const SystemData<T>& data, SystemWork<T>& work, const SolveOptions& options,
            Executor& executor)
      : kind_(kind),
        work_(work),
        options_(options),
        executor_(executor),
        a_(matrix_of(work.a, data.n, data.n)),
        b_(matrix_of(work.b, data.n, has_right_hand_side(kind) ? data.count : 0)),
        tau_(1, kind == SystemKind::Geqrf ? data.n : 0) {
    ExecutionQueue copies(executor);
    prefetch(a_, copies);
    if (!b_.empty()) prefetch(b_, copies);
    copies.finish();
    throw_if_failed(executor.default_queue().synchronize());
  }

  void compute() override {
    switch (kind_) {
      case SystemKind::Trsm:
        solve(Op::None);
        break;
      case SystemKind::Potrf:
        factor_positive();
        break;
      case SystemKind::Posv:
        factor_positive();
        solve(Op::None);
        solve(is_complex<T> ? Op::ConjugateTranspose : Op::Transpose);
        break;
      case SystemKind::Getrf:
        factor();
        break;
      case SystemKind::Geqrf:
        detail::factor_qr(a_, tau_, options_);
        break;
      case SystemKind::Gesv:
        factor();
        detail::solve_factored(a_, std::span<const Index>(work_.pivots), Op::None, b_, options_);
        break;
      default:
        throw Error(StatusCode::Internal, "this operation is not computed wholly on a device");
    }
    throw_if_failed(executor_.default_queue().synchronize());
  }

  void fetch() override {
    copy_rows(a_, work_.a);
    if (!b_.empty()) copy_rows(b_, work_.b);
    if (!tau_.empty()) copy_rows(tau_, work_.tau);
  }

 private:
  static Matrix<T> matrix_of(const std::vector<T>& elements, Index rows, Index cols) {
    Matrix<T> matrix(rows, cols);
    for (Index i = 0; i < (cols > 0 ? rows : 0); ++i)
      std::copy_n(elements.begin() + i * cols, cols, matrix.row(i).begin());
    return matrix;
  }
  static void copy_rows(const Matrix<T>& matrix, std::vector<T>& elements) {
    for (Index i = 0; i < matrix.rows(); ++i) std::ranges::copy(matrix.row(i), elements.begin() + i * matrix.cols());
  }

  void factor() {
    detail::ScaledNumber norm;
    detail::factor_lu(a_, std::span(work_.pivots), norm, options_);
  }
  void factor_positive() {
    detail::ScaledNumber norm;
    if (const Index done = detail::factor_cholesky(a_, norm, options_); done < a_.rows())
      throw NotPositiveDefinite(done + 1);
  }
  void solve(Op op) {
    detail::solve_triangle({Side::Left, Triangle::Lower, op, Diagonal::Stored}, std::as_const(a_), b_, options_);
  }

  const SystemKind kind_;
  SystemWork<T>& work_;
  const SolveOptions options_;
  Executor& executor_;
  Matrix<T> a_, b_, tau_;
};

} // namespace

bool stays_on_device(const Executor& executor, SystemKind kind) {
  switch (kind) {
    case SystemKind::Trsm:
    case SystemKind::Potrf:
    case SystemKind::Getrf:
    case SystemKind::Geqrf:
    case SystemKind::Posv:
    case SystemKind::Gesv:
      return executor.capabilities().has_panels;
    default:
      return false;
  }
}

template <class T>
std::unique_ptr<SystemRun<T>> run_on_device(SystemKind kind, const SystemData<T>& data, SystemWork<T>& work,
                                            const SolveOptions& options, Executor& executor) {
  return std::make_unique<MatrixRun<T>>(kind, data, work, options, executor);
}

#define TESSERA_INSTANTIATE(T)                                                                           \
  template std::unique_ptr<SystemRun<T>> run_on_device(SystemKind, const SystemData<T>&, SystemWork<T>&, \
                                                       const SolveOptions&, Executor&);
TESSERA_INSTANTIATE(float)
TESSERA_INSTANTIATE(double)
TESSERA_INSTANTIATE(std::complex<float>)
TESSERA_INSTANTIATE(std::complex<double>)
#undef TESSERA_INSTANTIATE

} // namespace tessera::compare_app
