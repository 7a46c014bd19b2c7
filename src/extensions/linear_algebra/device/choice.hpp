#pragma once

/// Whether a device computes with matrices as a whole.

#include <initializer_list>
#include <new>
#include <optional>
#include <utility>

#include <tessera/detail/storage.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/linear_algebra/options.hpp>
#include <tessera/status.hpp>

namespace tessera::linear_algebra::device {

/// A matrix that a device computes with as a whole. Of complex numbers the operand has the parts, side by side.
struct Whole {
  detail::Operand parts;
  bool is_complex = false;

  Index rows() const { return parts.rows; }
  Index cols() const { return is_complex ? parts.cols / 2 : parts.cols; }
  DType type() const { return parts.storage->type(); }
};
template <class T>
Whole whole(const Matrix<T>& x) {
  return {x.operand(), detail::Complex<T>};
}

/// Returns the device that is to compute with these matrices, if it has the steps; null if not.
Executor* device_of(const SolveOptions& options, GemmShape shape, std::initializer_list<const detail::Operand*> all,
                    bool are_complex = false);
/// Does it for matrices in host memory.
Executor* device_of(const SolveOptions& options, DType type, GemmShape shape, bool are_complex = false);

/// Returns the device that is to compute a product of matrices in host memory with copies of them, if it has the steps;
/// null if not, and where the product is no larger than a panel.
Executor* device_of_product(const SolveOptions& options, DType type, GemmShape shape, bool are_complex);

/// Calls work(begins), which returns what it made and sets `begins` before it writes. Says no where the device lacks
/// memory before, or rejects the first step, which it does before anything is written. Then the matrices leave the
/// device, unless other calls hold them there, because the general way needs its memory.
template <class Work>
auto unless_refused(std::initializer_list<const detail::Operand*> matrices, const Work& work)
    -> std::optional<decltype(work(std::declval<bool&>()))> {
  bool begins = false;
  try {
    return work(begins);
  } catch (const OutOfMemory&) {
    if (begins) throw;
  } catch (const KernelRejected&) {
    if (begins) throw;
  } catch (const std::bad_alloc&) {
    if (begins) throw;
  }
  for (const detail::Operand* x : matrices) x->storage->leave_device();
  return std::nullopt;
}

} // namespace tessera::linear_algebra::device
