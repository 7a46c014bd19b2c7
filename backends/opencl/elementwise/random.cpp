/// Random fills.

#include "elementwise.hpp"
#include "options.hpp"

namespace tessera::opencl {
namespace source {

std::string_view random_cl();

} // namespace source

namespace {

/// Says how a stored number's bits are read, and what its format is.
std::string format_options(DType type) {
  const ElementType& facts = element_type(type);
  const char* const bits = facts.bytes == 8   ? " -D BITS=ulong -D AS_BITS=as_ulong -D AS_STORED=as_double"
                           : facts.bytes == 4 ? " -D BITS=uint -D AS_BITS=as_uint -D AS_STORED=as_float"
                                              : " -D BITS=ushort -D AS_BITS=as_ushort -D AS_STORED=as_ushort";
  return bits + (" -D LARGEST=" + std::to_string(facts.largest_exponent)) +
         " -D FRACTION=" + std::to_string(facts.digits - 1) +
         (scalar_of(type) == DType::F64 ? " -D REAL_IS_DOUBLE=1" : " -D REAL_IS_DOUBLE=0");
}

} // namespace

Status random(Queue& queue, const RandomCall& call) {
  if (call.rows == 0 || call.cols == 0) return {};
  if (Status status = has_type(queue, call.type); !status.ok()) return status;
  const Device& device = command_queue(queue).context().device();
  if (!device.has_f64 && (call.distribution == Distribution::Normal || call.distribution == Distribution::Special))
    return {StatusCode::Unavailable, device.name + " (" + device.platform_name +
                                         ") has no f64 (cl_khr_fp64), which normal and special random numbers are "
                                         "made with; fill the matrix by another backend"};
  Launch launch(queue, {"random.cl", source::random_cl},
                scalar_option(call.type) + stored_option("Z", call.type) + format_options(call.type), "random_fill");
  launch.value<cl_long>(call.rows).value<cl_long>(call.cols);
  launch.value<cl_int>(static_cast<cl_int>(call.distribution)).value<cl_ulong>(call.seed);
  scalar_value(scalar_value(launch, call.type, call.low), call.type, call.high);
  launch.operand(call.z, size_of(call.type)).value<cl_long>(call.ldz);
  return launch.run(elements(call.rows, call.cols), element_group);
}

} // namespace tessera::opencl
