#include "record.hpp"

#include <string_view>

#include "bindings/python/errors.hpp"
#include "bindings/python/words.hpp"

namespace tessera::python {
namespace {

/// Attributes of a ctx, and of tensors.
struct ContextNames {
  PyObject* needs = name("needs_input_grad");
  PyObject* to_save = name("to_save"); ///< what ctx.save_for_backward() sets
  PyObject* math = name("math");
  PyObject* alpha = name("alpha");
  PyObject* beta = name("beta");
  PyObject* activation = name("activation");
  PyObject* shape = name("shape");

  static PyObject* name(const char* text) { return checked(PyUnicode_InternFromString(text)); }
};
const ContextNames& context_names() {
  static const ContextNames all;
  return all;
}

void set_attribute(PyObject* context, PyObject* name, PyObject* value) {
  if (python_call<&PyObject_SetAttr>(context, name, value) != 0) throw PythonError{};
}

/// Sets an attribute to a factor, unless that is 1, which is the default, or None, which means that there is none.
void set_factor(PyObject* context, PyObject* name, PyObject* factor) {
  if (factor == Py_None) return;
  if (PyLong_CheckExact(factor) && PyLong_AsLongLong(factor) == 1) return;
  PyErr_Clear(); // a number of more than 64 bits
  set_attribute(context, name, factor);
}

/// Which arguments need gradients?
class Needs {
 public:
  explicit Needs(PyObject* context) : flags_(checked(python_call<&PyObject_GetAttr>(context, context_names().needs))) {}
  bool operator[](Py_ssize_t argument) const { return PyTuple_GetItem(flags_.get(), argument) == Py_True; }

 private:
  Reference flags_;
};

void save_for_backward(PyObject* context, Reference tuple) {
  set_attribute(context, context_names().to_save, checked(tuple.get()));
}

} // namespace

PyObject* recorded_product(PyObject* context, const TensorProduct& arguments, Py_ssize_t needed) {
  Reference result(tensor_product(arguments));
  if (result.get() == Py_None) return result.release();
  const Needs needs(context);
  if (arguments.math != Py_None) set_attribute(context, context_names().math, arguments.math);
  if (arguments.c != Py_None) {
    set_factor(context, context_names().alpha, arguments.alpha);
    set_factor(context, context_names().beta, arguments.beta);
    if (needs[needed - 1])
      set_attribute(context, context_names().shape,
                    Reference(checked(python_call<&PyObject_GetAttr>(arguments.c, context_names().shape))).get());
  }
  save_for_backward(context, Reference(PyTuple_Pack(2, needs[needed + 1] ? arguments.a : Py_None,
                                                    needs[needed] ? arguments.b : Py_None)));
  return result.release();
}

PyObject* recorded_linear(PyObject* context, const TensorProduct& arguments) {
  Reference result(tensor_product(arguments));
  if (result.get() == Py_None) return result.release();
  const Needs needs(context);
  bool of_x = needs[0], of_w = needs[1];
  PyObject* extra = Py_None;
  if (arguments.math != Py_None) set_attribute(context, context_names().math, arguments.math);
  if (arguments.activation != Py_None) {
    set_attribute(context, context_names().activation, arguments.activation);
    const bool relu = parse_text(arguments.activation, "activation") == std::string_view("relu");
    extra = relu ? result.get() : arguments.bias;
    if (!relu) of_x = of_w = true;
  }
  save_for_backward(context,
                    Reference(PyTuple_Pack(3, of_w ? arguments.a : Py_None, of_x ? arguments.b : Py_None, extra)));
  return result.release();
}

} // namespace tessera::python
