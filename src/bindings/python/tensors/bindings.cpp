#include "bindings.hpp"

#include "bindings/python/words.hpp"
#include "product.hpp"
#include "record.hpp"
#include "tensor.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tessera::python {
namespace {

/// Multiplies tensors for tessera/torch. With `plain` a call that PyTorch's dispatcher has to see gives None, and one
/// that only autograd has to see gives False.
nb::object tensor_product_of(nb::handle plain, nb::handle a, nb::handle b, nb::handle math, int dimensions,
                             nb::handle c, nb::handle beta, nb::handle alpha, nb::handle bias, nb::handle activation,
                             nb::handle type, nb::handle out, nb::handle stream) {
  if (plain.ptr() == Py_True)
    if (const Call call = kind_of_call({a.ptr(), b.ptr(), c.ptr(), bias.ptr(), out.ptr()}); call != Call::Plain)
      return call == Call::Recorded ? nb::object(nb::bool_(false)) : nb::none();
  return nb::steal(tensor_product({a.ptr(), b.ptr(), c.ptr(), beta.ptr(), alpha.ptr(), bias.ptr(), activation.ptr(),
                                   math.ptr(), type.ptr(), out.ptr(), stream.ptr(), dimensions}));
}

/// Returns True for a call with plain tensors, False for one that autograd has to see, and None for others.
nb::object kind_of(nb::handle a, nb::handle b, nb::handle c) {
  const Call call = kind_of_call({a.ptr(), b.ptr(), c.ptr()});
  return call == Call::Other ? nb::none() : nb::object(nb::bool_(call == Call::Plain));
}

nb::object product_of_two(nb::handle a, nb::handle b, nb::handle math, int dimensions) {
  return nb::steal(tensor_product({a.ptr(), b.ptr(), Py_None, Py_None, Py_None, Py_None, Py_None, math.ptr(), Py_None,
                                   Py_None, Py_None, dimensions}));
}

/// What most calls are: a product of two plain tensors. It has few arguments, because each costs time.
nb::object plain_product_of(nb::handle a, nb::handle b, nb::handle math, int dimensions) {
  if (const Call call = kind_of_call({a.ptr(), b.ptr()}); call != Call::Plain)
    return call == Call::Recorded ? nb::object(nb::bool_(false)) : nb::none();
  return product_of_two(a, b, math, dimensions);
}

TensorProduct linear_of(nb::handle x, nb::handle w, nb::handle bias, nb::handle activation, nb::handle math) {
  TensorProduct product{x.ptr(),          w.ptr(),    Py_None, Py_None, Py_None, bias.ptr(),
                        activation.ptr(), math.ptr(), Py_None, Py_None, Py_None};
  product.b_is_weight = true;
  return product;
}

/// activation(x·wᵀ + bias). `plain` is as for tensor_product_of().
nb::object linear_product_of(bool plain, nb::handle x, nb::handle w, nb::handle bias, nb::handle activation,
                             nb::handle math) {
  if (plain)
    if (const Call call = kind_of_call({x.ptr(), w.ptr(), bias.ptr()}); call != Call::Plain)
      return call == Call::Recorded ? nb::object(nb::bool_(false)) : nb::none();
  return nb::steal(tensor_product(linear_of(x, w, bias, activation, math)));
}

/// The forward passes of autograd functions, whose first argument is ctx.
template <int dimensions>
nb::object recorded_product_of(nb::handle context, nb::handle a, nb::handle b, nb::handle math) {
  return nb::steal(recorded_product(context.ptr(),
                                    {a.ptr(), b.ptr(), Py_None, Py_None, Py_None, Py_None, Py_None, math.ptr(), Py_None,
                                     Py_None, Py_None, dimensions},
                                    0));
}

template <int dimensions>
nb::object recorded_sum_of(nb::handle context, nb::handle c, nb::handle a, nb::handle b, nb::handle beta,
                           nb::handle alpha, nb::handle math) {
  return nb::steal(recorded_product(context.ptr(),
                                    {a.ptr(), b.ptr(), c.ptr(), beta.ptr(), alpha.ptr(), Py_None, Py_None, math.ptr(),
                                     Py_None, Py_None, Py_None, dimensions},
                                    1));
}

nb::object recorded_linear_of(nb::handle context, nb::handle x, nb::handle w, nb::handle bias, nb::handle activation,
                              nb::handle math) {
  return nb::steal(recorded_linear(context.ptr(), linear_of(x, w, bias, activation, math)));
}

void bind_recorded(nb::module_& module) {
  const auto any = nb::arg().none();
  const auto math = "math"_a.none() = nb::none();
  const auto beta = "beta"_a = 1, alpha = "alpha"_a = 1;
  module.def("_recorded_mm", recorded_product_of<2>, any, any, any, math);
  module.def("_recorded_bmm", recorded_product_of<3>, any, any, any, math);
  module.def("_recorded_addmm", recorded_sum_of<2>, any, any, any, any, beta, alpha, math);
  module.def("_recorded_baddbmm", recorded_sum_of<3>, any, any, any, any, beta, alpha, math);
  module.def("_recorded_linear", recorded_linear_of, any, any, any, any, "activation"_a.none() = nb::none(), math);
}

} // namespace

void bind_tensors(nb::module_& module) {
  bind_recorded(module);
  module.def(
      "_tensor_mode", [](nb::handle word) { parse_math(word.ptr()); }, "word"_a.none());
  module.def("_kind_of_call", kind_of, nb::arg().none(), nb::arg().none(), nb::arg().none());
  module.def("_product_of_two", product_of_two, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg());
  module.def("_plain_product", plain_product_of, nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg());
  module.def("_linear_product", linear_product_of, nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg().none(),
             nb::arg().none(), nb::arg().none());
  module.def(
      "_use_tensor_library",
      [](nb::handle capsule, const char* path, nb::handle wrap, const nb::tuple& types, const nb::tuple& unusual,
         nb::handle is_grad_enabled, nb::handle transforms, nb::handle forward_mode) {
        return use_tensor_library(capsule.ptr(), path, wrap.ptr(), types.ptr(), unusual.ptr(), is_grad_enabled.ptr(),
                                  transforms.ptr(), forward_mode.ptr());
      },
      "capsule"_a.none(), "path"_a, "wrap"_a.none(), "types"_a, "unusual"_a, "is_grad_enabled"_a, "transforms"_a,
      "forward_mode"_a);
  module.def("_tensor_product", tensor_product_of, "plain"_a, "a"_a.none(), "b"_a.none(), "math"_a.none() = nb::none(),
             "dimensions"_a = 0, "c"_a.none() = nb::none(), "beta"_a.none() = 1, "alpha"_a.none() = nb::none(),
             "bias"_a.none() = nb::none(), "activation"_a.none() = nb::none(), "type"_a.none() = nb::none(),
             "out"_a.none() = nb::none(), "stream"_a.none() = nb::none());
  module.def(
      "_grouped_tensor_product",
      [](nb::handle a, nb::handle b, nb::handle ends, nb::handle math, nb::handle out, nb::handle stream) {
        return nb::steal(grouped_tensor_product(a.ptr(), b.ptr(), ends.ptr(), math.ptr(), out.ptr(), stream.ptr()));
      },
      "a"_a, "b"_a, "ends"_a, "math"_a.none(), "out"_a, "stream"_a.none());
}

} // namespace tessera::python
