#include "distributed.hpp"

#include <array>

#include "errors.hpp"

namespace tessera::python {
namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address); // NOLINT(performance-no-int-to-ptr): NumPy gives addresses as numbers
}

tessera::detail::DistributedType type_of(Element element) { return {element.part, element.is_complex}; }

tessera::detail::DistributedPointer wrapped(const GridPointer& grid, Element type, const LocalPart& x) {
  return tessera::detail::wrap_distributed(
      grid, x.rows, x.cols, {x.row_block, x.col_block},
      {at<void>(x.address), x.column_major ? LocalOrder::ColumnMajor : LocalOrder::RowMajor, x.ld}, type_of(type));
}

} // namespace

GridPointer make_grid(std::uintptr_t comm, std::size_t size, int rows, int cols, int layers, double time_limit) {
  const WithoutGil released;
  return tessera::detail::make_grid({at<const void>(comm), size}, {rows, cols, layers}, time_limit);
}

GridPointer make_best_grid(std::uintptr_t comm, std::size_t size, Index m, Index n, Index k, double time_limit) {
  const WithoutGil released;
  return tessera::detail::make_best_grid({at<const void>(comm), size}, m, n, k, time_limit);
}

Element parse_element(std::string_view name) {
  for (const ElementType& type : element_types)
    if (type.array_name == name) return type.type;
  if (name == "complex64") return {DType::F32, true};
  if (name == "complex128") return {DType::F64, true};
  throw TypeError("distributed matrices have float32, float64, complex64, complex128 or float16 elements, not " +
                  std::string(name));
}

DistributedReport distributed_gemm(const GridPointer& grid, Element type, std::complex<double> alpha,
                                   const LocalPart& a, Op op_a, const LocalPart& b, Op op_b, std::complex<double> beta,
                                   const LocalPart& c, const DistributedOptions& options) {
  const WithoutGil released;
  const auto on_a = wrapped(grid, type, a), on_b = wrapped(grid, type, b), on_c = wrapped(grid, type, c);
  return tessera::detail::gemm(alpha, *on_a, op_a, *on_b, op_b, beta, *on_c, options);
}

void distributed_scatter(const GridPointer& grid, Element type, std::uintptr_t whole, Index ld, int root,
                         const LocalPart& to) {
  const WithoutGil released;
  tessera::detail::scatter(tessera::detail::WholeMatrix{at<void>(whole), ld}, root, *wrapped(grid, type, to));
}

void distributed_gather(const GridPointer& grid, Element type, const LocalPart& from, std::uintptr_t whole, Index ld,
                        int root) {
  const WithoutGil released;
  tessera::detail::gather(*wrapped(grid, type, from), root, tessera::detail::WholeMatrix{at<void>(whole), ld});
}

void distributed_redistribute(const GridPointer& from_grid, const LocalPart& from, const GridPointer& to_grid,
                              const LocalPart& to, Element type) {
  const WithoutGil released;
  tessera::detail::redistribute(*wrapped(from_grid, type, from), *wrapped(to_grid, type, to));
}

} // namespace tessera::python
