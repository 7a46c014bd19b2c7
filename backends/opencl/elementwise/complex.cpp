/// Operations on complex numbers.

#include "elementwise.hpp"
#include "options.hpp"

namespace tessera::opencl {
namespace source {

std::string_view complex_cl();

} // namespace source

namespace {

constexpr Source file{"complex.cl", source::complex_cl};

std::string options_of(const MapCall& call) {
  return call.type == DType::F64 ? "-D REAL=double -D REAL_IS_DOUBLE=1" : "-D REAL=float -D REAL_IS_DOUBLE=0";
}

Status copy(Queue& queue, const MapCall& call) {
  const std::size_t element = size_of(call.type);
  const bool turns = call.op_x != Op::None;
  return Launch(queue, file, options_of(call), "copy_complex")
      .value<cl_long>(call.rows)
      .value<cl_long>(call.cols)
      .operand(call.x, element)
      .value<cl_long>(turns ? 2 : 2 * call.ldx)
      .value<cl_long>(turns ? 2 * call.ldx : 2)
      .value<cl_int>(call.op_x == Op::ConjugateTranspose ? 1 : 0)
      .value<cl_int>(call.op == MapOp::ExpandComplex ? 1 : 0)
      .operand(call.z, element)
      .value<cl_long>(2 * call.ldz)
      .run(elements(call.rows, call.cols), element_group);
}

Status combine(Queue& queue, const MapCall& call) {
  const std::size_t element = size_of(call.type);
  const bool reads_y = call.beta != 0 || call.beta_imaginary != 0;
  Launch launch(queue, file, options_of(call), "combine_complex");
  launch.value<cl_long>(call.rows).value<cl_long>(call.cols);
  scalar_value(scalar_value(launch, call.type, call.alpha), call.type, call.alpha_imaginary);
  launch.operand(call.x, element).value<cl_long>(2 * call.ldx);
  scalar_value(scalar_value(launch, call.type, call.beta), call.type, call.beta_imaginary);
  launch.operand(reads_y ? call.y : call.x, element).value<cl_long>(2 * call.ldy);
  launch.operand(call.z, element).value<cl_long>(2 * call.ldz);
  return launch.run(elements(call.rows, call.cols), element_group);
}

} // namespace

Status map_complex(Queue& queue, const MapCall& call) {
  return call.op == MapOp::CombineComplex ? combine(queue, call) : copy(queue, call);
}

} // namespace tessera::opencl
