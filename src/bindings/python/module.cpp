/// The module tessera._core. Its functions take and return plain Python objects, so that errors can name the argument;
/// tessera/_core.pyi has the types.

#include <nanobind/nanobind.h>

#include <tessera/backend.hpp>
#include <tessera/performance/tuning.hpp>
#include <tessera/version.hpp>

#include "arrays/plain.hpp"
#include "batch.hpp"
#include "device_array.hpp"
#include "distributed.hpp"
#include "errors.hpp"
#include "extensions/check.hpp"
#include "extensions/device_stacks.hpp"
#include "extensions/files.hpp"
#include "extensions/health.hpp"
#include "extensions/linear_algebra.hpp"
#include "extensions/system_batch.hpp"
#include "gemm.hpp"
#include "race.hpp"
#include "tensors/bindings.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tessera::python {
namespace {

constexpr const char* gemm_doc = R"(C := alpha·a·b + beta·C as a new matrix, or into out.

a, b: matrices of one element type, float16, bfloat16, float32, float64, complex64 or complex128: NumPy arrays, or
    objects that export a buffer or DLPack. Arrays with contiguous rows or columns (C and Fortran order, transposes,
    blocks of a larger matrix) are read where they are; arrays with other strides are copied once. Arrays on a CUDA
    device are multiplied there.
c: the matrix that beta multiplies; not read with beta = 0, and never written.
out: the matrix for the result, which is returned; its old elements are C. It may not overlap a or b, and is never
    copied.
alpha, beta: rounded to the element type; complex if that is complex.
backend: 'auto', 'reference', 'openmp', 'tbb', 'cuda', 'opencl', or the name of another plug-in. A backend that is
    named is used, or BackendUnavailable says why not.
math: 'strict' (the same bits on every backend), 'tf32', 'bf16', 'fp16', 'emulated_fp16x3', 'emulated_bf16x6',
    'scaled_fp16', 'int8_units' (of float64: strict's error bound, other bits), 'compensated' or 'strassen'.
kernel: a kernel of the backend by its name (see kernels()); it runs, or KernelRejected says why not.
threads: 1 or more; None for the default.
stream: the number of a CUDA stream, for arrays on a device. The call then returns before the product is done. The
    product starts after the work in the stream, and later work in the stream waits for it. None: done on return.
bias: n numbers (a vector or 1×n) for the columns, or m×1 for the rows; activation: 'relu' or 'gelu' (its tanh form);
    residual: a matrix of the result's shape. They are applied in this order before the elements are rounded and stored.
    The arrays have the result's element type and are in its memory. Not for complex matrices.
verify: 'detect': the product checks itself, and DataCorruption says that it is wrong; 'repair': a wrong one is computed
    again, and counted (verify_counts()). Arrays in host memory, without bias, activation and residual.
conj_a, conj_b: multiply the conjugate of a complex a or b. A matrix that is transposed too is not copied: gemm(a.T, b,
    conj_a=True) is Aᴴ·B.

Returns out, a new numpy.ndarray in C order, or, for arrays on a device, a DeviceArray there.

>>> import numpy as np
>>> import tessera as ts
>>> a = np.array([[1, 2, 3], [4, 5, 6]], dtype=np.float32)
>>> ts.gemm(a, a.T)
array([[14., 32.],
       [32., 77.]], dtype=float32)
>>> out = np.ones((2, 2), np.float32)
>>> ts.gemm(a, a.T, out=out, alpha=0.5, beta=2) is out
True
>>> out
array([[ 9. , 18. ],
       [18. , 40.5]], dtype=float32)
>>> ts.gemm(a, a)
Traceback (most recent call last):
tessera._errors.InvalidArgument: a is 2×3 and b is 2×3; the columns of a must be as many as the rows of b, but 3 ≠ 2
)";

constexpr const char* gemm_signature =
    "def gemm(a, b, *, c=None, out=None, alpha=1, beta=0, backend='auto', math='strict', kernel=None, threads=None, "
    "stream=None, bias=None, activation=None, residual=None, verify='none', conj_a=False, conj_b=False)";

constexpr const char* gemm_batch_doc =
    R"(Many products at once: alpha·a[i]·b[i] + beta·out[i], each with the bits of gemm.

a, b: arrays of three dimensions, lists of matrices, which may differ in shape, or one matrix for all products; in host
    memory, of one element type. Matrices that gemm would read where they are, are not copied; the distance between
    matrices does not matter.
out: an array of three dimensions or a list of matrices for the results, which is returned; with beta ≠ 0 its old
    elements are read. It may not overlap a or b, and its matrices may not share elements. None: a new array where a
    and b are arrays, else a list.
alpha, beta, backend, math, kernel, threads, verify: as for gemm. Each thread computes whole small products; products
    that verify themselves run one after another.

>>> import numpy as np
>>> import tessera as ts
>>> a = np.arange(8, dtype=np.float64).reshape(2, 2, 2)
>>> ts.gemm_batch(a, np.eye(2))
array([[[0., 1.],
        [2., 3.]],
<BLANKLINE>
       [[4., 5.],
        [6., 7.]]])
>>> [c.shape for c in ts.gemm_batch([np.ones((2, 3)), np.ones((4, 1))], [np.ones((3, 5)), np.ones((1, 6))])]
[(2, 5), (4, 6)]
)";

constexpr const char* gemm_batch_signature =
    "def gemm_batch(a, b, *, out=None, alpha=1, beta=0, backend='auto', math='strict', kernel=None, threads=None, "
    "verify='none')";

nb::object gemm_batch_of(nb::handle a, nb::handle b, nb::handle out, nb::handle alpha, nb::handle beta,
                         nb::handle backend, nb::handle math, nb::handle kernel, nb::handle threads,
                         nb::handle verify) {
  return nb::steal(gemm_batch({a.ptr(), b.ptr(), out.ptr(), alpha.ptr(), beta.ptr(), backend.ptr(), math.ptr(),
                               kernel.ptr(), threads.ptr(), verify.ptr()}));
}

PyObject* wrap(DeviceArray&& array) { return nb::cast(std::move(array)).release().ptr(); }

nb::object gemm_of(nb::handle a, nb::handle b, nb::handle c, nb::handle out, nb::handle alpha, nb::handle beta,
                   nb::handle backend, nb::handle math, nb::handle kernel, nb::handle threads, nb::handle stream,
                   nb::handle bias, nb::handle activation, nb::handle residual, nb::handle verify, nb::handle conj_a,
                   nb::handle conj_b) {
  return nb::steal(gemm({a.ptr(), b.ptr(), c.ptr(), out.ptr(), alpha.ptr(), beta.ptr(), backend.ptr(), math.ptr(),
                         kernel.ptr(), threads.ptr(), stream.ptr(), bias.ptr(), activation.ptr(), residual.ptr(),
                         verify.ptr(), conj_a.ptr(), conj_b.ptr()},
                        wrap));
}

/// tessera/_certificate.py calls this with matrices that have a layout and with the names of their types.
nb::object check_of(nb::handle products, nb::handle types, nb::handle math, nb::handle alpha, nb::handle beta,
                    nb::handle activation, nb::handle seed, nb::handle rows, nb::handle vectors, nb::handle threads) {
  return nb::steal(check({products.ptr(), types.ptr(), math.ptr(), alpha.ptr(), beta.ptr(), activation.ptr(),
                          seed.ptr(), rows.ptr(), vectors.ptr(), threads.ptr()}));
}

/// tessera/_solution.py calls this as check_of() is called.
nb::object check_solution_of(nb::handle a, nb::handle x, nb::handle b, nb::handle types, nb::handle nearness,
                             nb::handle limit, nb::handle threads) {
  return nb::steal(
      check_solution({a.ptr(), x.ptr(), b.ptr(), types.ptr(), nearness.ptr(), limit.ptr(), threads.ptr()}));
}

/// tessera/_linear_algebra.py calls this with the name of what is to be done.
nb::object solve_of(nb::handle task, nb::handle a, nb::handle b, nb::handle lower, nb::handle unit_diagonal,
                    nb::handle backend, nb::handle threads, nb::handle stream, nb::handle math) {
  return nb::steal(solve_system({task.ptr(), a.ptr(), b.ptr(), lower.ptr(), unit_diagonal.ptr(), backend.ptr(),
                                 threads.ptr(), stream.ptr(), math.ptr()},
                                wrap));
}

/// tessera/_system_batch.py calls this with arrays that it has checked.
void solve_batch_of(nb::handle task, nb::handle a, nb::handle x, nb::handle pivots, nb::handle lower,
                    nb::handle backend, nb::handle threads) {
  solve_system_batch({task.ptr(), a.ptr(), x.ptr(), pivots.ptr(), lower.ptr(), backend.ptr(), threads.ptr()});
}

/// tessera/_device.py calls this with batches on a CUDA device.
nb::object solve_stacks_of(nb::handle task, nb::handle a, nb::handle b, nb::handle lower, nb::handle backend,
                           nb::handle threads, nb::handle stream) {
  return nb::steal(solve_device_stacks(
      {task.ptr(), a.ptr(), b.ptr(), lower.ptr(), backend.ptr(), threads.ptr(), stream.ptr()}, wrap));
}

nb::str text(std::string_view word) { return nb::str(word.data(), word.size()); }

/// Returns (name, built, available, reason, path, device, threads, memory) of each backend.
nb::list backend_facts() {
  nb::list list;
  for (const BackendInfo& info : available_backends()) {
    const Capabilities* machine = capabilities_of(info.backend);
    list.append(nb::make_tuple(text(to_string(info.backend)), info.built, info.available, text(info.reason),
                               text(info.path), text(machine ? machine->device : ""),
                               machine && machine->host_memory ? machine->threads : 0, text(to_string(info.memory))));
  }
  return list;
}

/// Returns (name, dtype, math, canonical, summary, source) of each GEMM kernel of a backend.
nb::list kernel_facts(nb::handle backend) {
  nb::list list;
  for (const GemmKernel& kernel : gemm_kernels(parse_backend(backend.ptr())))
    list.append(nb::make_tuple(kernel.name, dtype_name(kernel.type), text(to_string(kernel.math)),
                               has_contract(kernel.summation), kernel.summary, kernel.source));
  return list;
}

/// Do products of this type and mode on a backend have bits that do not depend on the kernel, if none is named?
bool backend_promises_bits(nb::handle backend, nb::handle dtype, nb::handle math) {
  const Executor& on = executor(parse_backend(backend.ptr()));
  const std::string_view name = parse_text(dtype.ptr(), "dtype");
  for (const ElementType& type : element_types)
    if (name == dtype_name(type.type))
      return promises_bits(on.gemm_kernels(), on.capabilities(), type.type, parse_math(math.ptr()));
  return false;
}

/// Returns the errors by their names; the dict is empty for a result that was not compared.
nb::dict errors_by_name(const std::optional<GemmError>& error) {
  nb::dict errors;
  if (!error) return errors;
  for (const ErrorNumber& number : error_numbers) errors[number.name] = number.value(*error);
  return errors;
}

/// Returns (seconds, verdict, reason, errors) of one kernel.
nb::tuple run_race(Race& race, nb::handle backend, const char* kernel, nb::handle math, int repeat, double time_limit) {
  const RaceResult result = race.run(parse_backend(backend.ptr()), kernel, parse_math(math.ptr()), repeat, time_limit);
  nb::list seconds;
  for (const double run : result.seconds) seconds.append(run);
  return nb::make_tuple(seconds, text(result.verdict), text(result.reason), errors_by_name(result.error));
}

nb::tuple shape_of(const DeviceArray& array) {
  nb::list sizes;
  for (const Index size : array.shape()) sizes.append(size);
  return nb::tuple(sizes);
}

void bind_device_array(nb::module_& module) {
  nb::class_<DeviceArray>(
      module, "DeviceArray",
      "A matrix in a device's memory, or a batch of them, for torch.from_dlpack, cupy.from_dlpack and the like.")
      .def_prop_ro(
          "shape", [](const DeviceArray& self) { return shape_of(self); }, "Rows and columns, after a batch's sizes.")
      .def_prop_ro(
          "ndim", [](const DeviceArray& self) { return self.shape().size(); }, "The number of dimensions.")
      .def_prop_ro(
          "dtype", [](const DeviceArray& self) { return dtype_name(self.type()); }, "NumPy's name of the element type.")
      .def_prop_ro("device", &DeviceArray::device, "The CUDA device's number.")
      .def(
          "numpy", [](const DeviceArray& self) { return nb::steal(self.numpy()); },
          "A copy in host memory, as a numpy.ndarray.")
      .def(
          "__dlpack_device__",
          [](const DeviceArray& self) {
            return nb::make_tuple(static_cast<int>(dlpack::DeviceType::Cuda), self.device());
          },
          "The kind and the number of the device, for from_dlpack.")
      .def(
          "__dlpack__",
          [](const DeviceArray& self, nb::handle stream, nb::handle max_version, nb::handle dl_device,
             nb::handle copy) {
            return nb::steal(self.dlpack(stream.ptr(), max_version.ptr(), dl_device.ptr(), copy.ptr()));
          },
          nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(), "dl_device"_a = nb::none(),
          "copy"_a = nb::none(), "The elements without a copy, for from_dlpack.")
      .def("__repr__", [](const DeviceArray& self) {
        std::string sizes;
        for (const Index size : self.shape()) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
        const std::string shown = "DeviceArray(shape=(" + sizes +
                                  (self.shape().size() == 1 ? ",), dtype='" : "), dtype='") + dtype_name(self.type()) +
                                  "', device='cuda:" + std::to_string(self.device()) + "')";
        return text(shown);
      });
}

} // namespace
} // namespace tessera::python

NB_MODULE(_core, module) {
  using namespace tessera::python;
  import_errors();
  import_numpy();
  nb::set_leak_warnings(false); // objects that daemon threads hold when the interpreter ends are not given back
  nb::register_exception_translator([](const std::exception_ptr& failure, void*) {
    try {
      std::rethrow_exception(failure);
    } catch (...) {
      raise_current();
    }
  });
  module.attr("__version__") = TESSERA_VERSION;
  // None is passed on to the functions, which report the argument that may not be None.
  module.def("gemm", gemm_of, "a"_a.none(), "b"_a.none(), nb::kw_only(), "c"_a = nb::none(), "out"_a = nb::none(),
             "alpha"_a.none() = 1, "beta"_a.none() = 0, "backend"_a.none() = "auto", "math"_a.none() = "strict",
             "kernel"_a = nb::none(), "threads"_a = nb::none(), "stream"_a = nb::none(), "bias"_a = nb::none(),
             "activation"_a = nb::none(), "residual"_a = nb::none(), "verify"_a.none() = "none",
             "conj_a"_a.none() = false, "conj_b"_a.none() = false, nb::sig(gemm_signature), gemm_doc);
  module.def("gemm_batch", gemm_batch_of, "a"_a.none(), "b"_a.none(), nb::kw_only(), "out"_a = nb::none(),
             "alpha"_a.none() = 1, "beta"_a.none() = 0, "backend"_a.none() = "auto", "math"_a.none() = "strict",
             "kernel"_a = nb::none(), "threads"_a = nb::none(), "verify"_a.none() = "none",
             nb::sig(gemm_batch_signature), gemm_batch_doc);
  module.def("_check", check_of, "products"_a.none(), "types"_a.none(), "math"_a.none(), "alpha"_a.none(),
             "beta"_a.none(), "activation"_a.none(), "seed"_a.none(), "rows"_a.none(), "vectors"_a.none(),
             "threads"_a.none());
  module.def("_check_solve", check_solution_of, "a"_a.none(), "x"_a.none(), "b"_a.none(), "types"_a.none(),
             "nearness"_a.none(), "limit"_a.none(), "threads"_a.none());
  module.def("_solve", solve_of, "task"_a, "a"_a.none(), "b"_a.none(), "lower"_a.none(), "unit_diagonal"_a.none(),
             "backend"_a.none(), "threads"_a.none(), "stream"_a = nb::none(), "math"_a = nb::none());
  module.def("_solve_stacks", solve_stacks_of, "task"_a, "a"_a, "b"_a.none(), "lower"_a, "backend"_a.none(),
             "threads"_a.none(), "stream"_a.none());
  module.def("_solve_batch", solve_batch_of, "task"_a, "a"_a.none(), "x"_a, "pivots"_a.none(), "lower"_a.none(),
             "backend"_a.none(), "threads"_a.none());
  module.def(
      "_health",
      [](nb::handle seconds, nb::handle backends) { return nb::steal(examine_machine(seconds.ptr(), backends.ptr())); },
      "seconds"_a.none(), "backends"_a.none());
  module.def("_verify_counts", [] { return nb::steal(counts_of_verified()); });
  module.def(
      "expect_plain", [](nb::handle x, const char* name) { expect_plain(x.ptr(), name); }, "x"_a.none(), "name"_a);
  module.def("backend_facts", backend_facts);
  module.def("kernel_facts", kernel_facts, "backend"_a.none());
  module.attr("element_types") = nb::steal(checked(element_table()));
  module.def("promises_bits", backend_promises_bits, "backend"_a, "dtype"_a, "math"_a);
  module.def("copies_made", copies_made, "How many arrays gemm had to copy so far.");
  nb::class_<Race>(module, "Race")
      .def(
          "__init__",
          [](Race* self, nb::handle a, nb::handle b, nb::handle threads) {
            new (self) Race(a.ptr(), b.ptr(), parse_threads(threads.ptr()));
          },
          "a"_a.none(), "b"_a.none(), "threads"_a.none())
      .def_prop_ro("shape", [](const Race& self) { return nb::make_tuple(self.m(), self.n(), self.k()); })
      .def_prop_ro("dtype", [](const Race& self) { return dtype_name(self.type()); })
      .def("run", run_race, "backend"_a.none(), "kernel"_a, "math"_a.none(), "repeat"_a, "time_limit"_a);
  bind_device_array(module);
  bind_distributed(module);
  bind_files(module);
  bind_tensors(module);
}
