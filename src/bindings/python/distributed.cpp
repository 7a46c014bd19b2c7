#include "distributed.hpp"

#include <array>
#include <functional>

#include "errors.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tessera::python {
namespace {

template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address); // NOLINT(performance-no-int-to-ptr): NumPy gives addresses as numbers
}

MatrixPointer wrapped(const GridPointer& grid, Element type, const LocalPart& x) {
  if (x.matrix != nullptr) return x.matrix;
  return tessera::detail::wrap_distributed(
      grid, x.rows, x.cols, {x.row_block, x.col_block},
      {at<void>(x.address), x.column_major ? LocalOrder::ColumnMajor : LocalOrder::RowMajor, x.ld}, type);
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

MatrixPointer make_matrix(const GridPointer& grid, Element type, Index rows, Index cols, Blocks blocks,
                          LocalOrder order, const Residence& residence) {
  const WithoutGil released;
  return tessera::detail::create_distributed(grid, rows, cols, blocks, order, type, &residence);
}

Element parse_element(std::string_view name) {
  if (const std::optional<Element> type = find_element(name)) return *type;
  throw TypeError("distributed matrices have " + element_names("or", true) + " elements, not " + std::string(name));
}

DistributedReport distributed_gemm(const GridPointer& grid, Element type, std::complex<double> alpha,
                                   const LocalPart& a, Op op_a, const LocalPart& b, Op op_b, std::complex<double> beta,
                                   const LocalPart& c, const DistributedOptions& options) {
  const WithoutGil released;
  const auto on_a = wrapped(grid, type, a), on_b = wrapped(grid, type, b), on_c = wrapped(grid, type, c);
  return tessera::detail::gemm(alpha, *on_a, op_a, *on_b, op_b, beta, *on_c, options);
}

DistributedPlan distributed_plan(const GridPointer& grid, Element type, std::complex<double> alpha, const LocalPart& a,
                                 Op op_a, const LocalPart& b, Op op_b, std::complex<double> beta, const LocalPart& c,
                                 const DistributedOptions& options) {
  const WithoutGil released;
  const auto on_a = wrapped(grid, type, a), on_b = wrapped(grid, type, b), on_c = wrapped(grid, type, c);
  return tessera::detail::plan_gemm(alpha, *on_a, op_a, *on_b, op_b, beta, *on_c, options);
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

namespace {

/// A grid, for tessera/mpi.py, which describes it.
struct PythonGrid {
  GridPointer state;
};

/// A matrix in the library's memory, for tessera/mpi.py.
struct PythonMatrix {
  MatrixPointer storage;
};

/// Makes it. Errors of one rank's arguments are agreed on.
PythonMatrix matrix_of(const PythonGrid& grid, const char* dtype, Index rows, Index cols, Index row_block,
                       Index col_block, bool column_major, nb::handle backend, int device) {
  const Element type = parse_element(dtype);
  Backend parsed = Backend::Auto;
  const auto read = [&] {
    try {
      parsed = parse_backend(backend.ptr());
    } catch (const TypeError& error) {
      throw InvalidArgument(error.what());
    }
    if (parsed == Backend::Auto) throw InvalidArgument("a residence of 'auto'; name the backend where elements stay");
  };
  tessera::detail::run_on_all(*grid.state, "mpi.DistributedArray", std::ref(read));
  return {make_matrix(grid.state, type, rows, cols, {row_block, col_block},
                      column_major ? LocalOrder::ColumnMajor : LocalOrder::RowMajor, Residence(parsed, device))};
}

/// Reads a matrix, or (rows, cols, row block, column block, address, is column-major, ld).
LocalPart local_part(nb::handle described) {
  LocalPart in_library{};
  if (nb::isinstance<PythonMatrix>(described)) {
    in_library.matrix = nb::cast<const PythonMatrix&>(described).storage;
    return in_library;
  }
  const auto x = nb::cast<nb::tuple>(described);
  return {nb::cast<Index>(x[0]),          nb::cast<Index>(x[1]), nb::cast<Index>(x[2]), nb::cast<Index>(x[3]),
          nb::cast<std::uintptr_t>(x[4]), nb::cast<bool>(x[5]),  nb::cast<Index>(x[6])};
}

/// The arguments of a distributed product that are not arrays.
struct PgemmArguments {
  Element type;
  std::complex<double> alpha, beta;
  DistributedOptions options;
};

/// Reads them. Errors of one rank's arguments are agreed on, so that no rank waits for another.
PgemmArguments read_pgemm(const PythonGrid& grid, const char* dtype, nb::handle alpha, nb::handle beta,
                          const nb::tuple& choices) {
  PgemmArguments x{parse_element(dtype), 0.0, 0.0, {}};
  const auto read = [&] {
    try {
      x.alpha = parse_complex(alpha.ptr(), "alpha", x.type);
      x.beta = parse_complex(beta.ptr(), "beta", x.type);
      x.options.backend = parse_backend(nb::handle(choices[0]).ptr());
      if (const nb::handle engine = choices[1]; !engine.is_none())
        x.options.engine = parse_text(engine.ptr(), "engine");
      x.options.threads = parse_threads(nb::handle(choices[2]).ptr());
      x.options.memory_limit = nb::cast<std::size_t>(choices[3]);
      x.options.device_messages = nb::cast<bool>(choices[4]);
    } catch (const TypeError& error) {
      throw InvalidArgument(error.what());
    } catch (const PythonError&) {
      PyErr_Clear();
      throw InvalidArgument("alpha or beta is no number of the elements' type");
    }
  };
  tessera::detail::run_on_all(*grid.state, "mpi.gemm", std::ref(read));
  return x;
}

/// Multiplies. `choices` are backend, engine, threads, memory_limit and device_messages.
nb::dict pgemm(const PythonGrid& grid, const char* dtype, nb::handle alpha, nb::handle a, int op_a, nb::handle b,
               int op_b, nb::handle beta, nb::handle c, const nb::tuple& choices) {
  const PgemmArguments x = read_pgemm(grid, dtype, alpha, beta, choices);
  const DistributedReport report =
      distributed_gemm(grid.state, x.type, x.alpha, local_part(a), static_cast<Op>(op_a), local_part(b),
                       static_cast<Op>(op_b), x.beta, local_part(c), x.options);
  nb::dict said;
  said["engine"] = nb::str(report.engine.c_str());
  said["planned_bytes"] = report.planned_bytes;
  said["counts_bytes"] = report.counts_bytes;
  said["bytes_received"] = report.bytes_received;
  said["bytes_expected"] = report.bytes_expected;
  said["bytes_sent"] = report.bytes_sent;
  said["messages"] = report.messages;
  said["broadcasts"] = report.broadcasts;
  said["seconds_waiting"] = report.seconds_waiting;
  said["seconds_multiplying"] = report.seconds_multiplying;
  return said;
}

/// Says what the product of pgemm() will take.
nb::dict plan_pgemm(const PythonGrid& grid, const char* dtype, nb::handle alpha, nb::handle a, int op_a, nb::handle b,
                    int op_b, nb::handle beta, nb::handle c, const nb::tuple& choices) {
  const PgemmArguments x = read_pgemm(grid, dtype, alpha, beta, choices);
  const DistributedPlan plan = distributed_plan(grid.state, x.type, x.alpha, local_part(a), static_cast<Op>(op_a),
                                                local_part(b), static_cast<Op>(op_b), x.beta, local_part(c), x.options);
  nb::dict said;
  said["engine"] = plan.engine.empty() ? nb::object(nb::none()) : nb::object(nb::str(plan.engine.c_str()));
  said["bytes"] = plan.bytes();
  said["host_bytes"] = plan.host_bytes;
  said["device_bytes"] = plan.device_bytes;
  said["counts_bytes"] = plan.counts_bytes;
  said["bytes_expected"] = plan.bytes_expected;
  return said;
}

} // namespace

void bind_distributed(nb::module_& module) {
  nb::class_<PythonGrid>(module, "_Grid")
      .def("__init__",
           [](PythonGrid* self, std::uintptr_t comm, std::size_t size, int rows, int cols, int layers,
              double time_limit) { new (self) PythonGrid{make_grid(comm, size, rows, cols, layers, time_limit)}; })
      .def_static("best", [](std::uintptr_t comm, std::size_t size, Index m, Index n, Index k,
                             double time_limit) { return PythonGrid{make_best_grid(comm, size, m, n, k, time_limit)}; })
      .def_prop_ro("shape",
                   [](const PythonGrid& self) {
                     const auto shape = tessera::detail::shape_of(*self.state);
                     return nb::make_tuple(shape.rows, shape.cols, shape.layers);
                   })
      .def_prop_ro("rank", [](const PythonGrid& self) { return tessera::detail::rank_in(*self.state); });
  nb::class_<PythonMatrix>(module, "_Matrix")
      .def("__init__",
           [](PythonMatrix* self, const PythonGrid& grid, const char* dtype, Index rows, Index cols, Index row_block,
              Index col_block, bool column_major, nb::handle backend, int device) {
             new (self)
                 PythonMatrix{matrix_of(grid, dtype, rows, cols, row_block, col_block, column_major, backend, device)};
           })
      .def("bring",
           [](const PythonMatrix& self, bool writes) {
             const WithoutGil released;
             tessera::detail::bring_to_host(*self.storage, writes);
           })
      .def_prop_ro("address",
                   [](const PythonMatrix& self) { return reinterpret_cast<std::uintptr_t>(self.storage->data); })
      .def_prop_ro("ld", [](const PythonMatrix& self) { return self.storage->ld; });
  module.def("_pgemm", pgemm, "grid"_a, "dtype"_a, "alpha"_a.none(), "a"_a, "op_a"_a, "b"_a, "op_b"_a, "beta"_a.none(),
             "c"_a, "choices"_a);
  module.def("_plan_pgemm", plan_pgemm, "grid"_a, "dtype"_a, "alpha"_a.none(), "a"_a, "op_a"_a, "b"_a, "op_b"_a,
             "beta"_a.none(), "c"_a, "choices"_a);
  module.def("_scatter",
             [](const PythonGrid& grid, const char* dtype, std::uintptr_t whole, Index ld, int root, nb::handle to) {
               distributed_scatter(grid.state, parse_element(dtype), whole, ld, root, local_part(to));
             });
  module.def("_gather",
             [](const PythonGrid& grid, const char* dtype, nb::handle from, std::uintptr_t whole, Index ld, int root) {
               distributed_gather(grid.state, parse_element(dtype), local_part(from), whole, ld, root);
             });
  module.def("_redistribute", [](const PythonGrid& from_grid, nb::handle from, const PythonGrid& to_grid, nb::handle to,
                                 const char* dtype) {
    distributed_redistribute(from_grid.state, local_part(from), to_grid.state, local_part(to), parse_element(dtype));
  });
}

} // namespace tessera::python
