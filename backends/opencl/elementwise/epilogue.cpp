/// Applies a product's epilogue in a separate pass.

#include "elementwise.hpp"
#include "options.hpp"

namespace tessera::opencl {
namespace source {

std::string_view epilogue_cl();

} // namespace source

Status apply_epilogue(Queue& queue, const FinishCall& call) {
  if (call.rows == 0 || call.cols == 0) return {};
  if (Status status = has_type(queue, call.type); !status.ok()) return status;
  const bool wide = call.type == DType::F64;
  if (wide != (call.x_type == DType::F64) || wide != (call.z_type == DType::F64))
    return {StatusCode::InvalidArgument, "epilogue: f32 and f64 do not mix"};
  const Device& device = command_queue(queue).context().device();
  std::string options = scalar_option(call.type) + stored_option("X", call.x_type) + stored_option("Z", call.z_type) +
                        (wide ? " -D REAL_IS_DOUBLE=1" : " -D REAL_IS_DOUBLE=0");
  const Epilogue& epilogue = call.epilogue;
  if (!device.has_f64 && device.divides_exactly) options += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (epilogue.activation == Activation::Gelu && !device.has_f64 && !device.divides_exactly)
    return {StatusCode::Unavailable, device.name + " (" + device.platform_name +
                                         ") does not round divisions correctly, which GELU needs; use another "
                                         "activation, device or backend"};
  Launch launch(queue, {"epilogue.cl", source::epilogue_cl}, options, "finish");
  launch.value<cl_long>(call.rows).value<cl_long>(call.cols);
  scalar_value(launch, call.type, call.scale);
  launch.value<cl_int>(call.x != nullptr ? 1 : 0).operand(call.x, size_of(call.x_type)).value<cl_long>(call.ldx);
  launch.value<cl_int>(static_cast<cl_int>(epilogue.bias_per))
      .operand(epilogue.bias, size_of(call.z_type))
      .value<cl_long>(epilogue.bias_step)
      .value<cl_int>(static_cast<cl_int>(epilogue.activation))
      .value<cl_int>(epilogue.residual != nullptr ? 1 : 0)
      .operand(epilogue.residual, size_of(call.z_type))
      .value<cl_long>(epilogue.ld_residual)
      .operand(call.z, size_of(call.z_type))
      .value<cl_long>(call.ldz);
  return launch.run(elements(call.rows, call.cols), element_group);
}

} // namespace tessera::opencl
