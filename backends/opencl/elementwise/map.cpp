/// Element-wise operations and conversions.

#include "elementwise.hpp"
#include "options.hpp"

namespace tessera::opencl {
namespace source {

std::string_view map_cl();
std::string_view convert_cl();
std::string_view transpose_cl();

} // namespace source

namespace {

/// The parts that all calls of map.cl have in common.
class Elementwise {
 public:
  Elementwise(Queue& queue, const MapCall& call, const char* name)
      : call_(call),
        launch_(queue, {"map.cl", source::map_cl}, scalar_option(call.type) + stored_option("Z", call.type), name) {
    launch_.value<cl_long>(call.rows).value<cl_long>(call.cols);
  }
  Elementwise& scalar(double number) {
    scalar_value(launch_, call_.type, number);
    return *this;
  }
  Elementwise& matrix(const void* data, Index ld) {
    launch_.operand(data, size_of(call_.type)).value<cl_long>(ld);
    return *this;
  }
  Status run() { return launch_.run(elements(call_.rows, call_.cols), element_group); }

 private:
  const MapCall& call_;
  Launch launch_;
};

Status transpose(Queue& queue, const MapCall& call) {
  constexpr std::size_t tile = 16;
  const std::size_t element = size_of(call.type);
  const char* const type = element == 8 ? "-D Z=ulong" : element == 4 ? "-D Z=uint" : "-D Z=ushort";
  return Launch(queue, {"transpose.cl", source::transpose_cl}, type, "transpose")
      .value<cl_long>(call.rows)
      .value<cl_long>(call.cols)
      .operand(call.x, element)
      .value<cl_long>(call.ldx)
      .operand(call.z, element)
      .value<cl_long>(call.ldz)
      .run({static_cast<std::size_t>(call.cols), static_cast<std::size_t>(call.rows)}, {tile, tile});
}

Status convert(Queue& queue, const MapCall& call) {
  if (Status status = has_type(queue, call.x_type); !status.ok()) return status;
  std::string options = scalar_option(call.x_type) + stored_option("X", call.x_type) + stored_option("Z", call.type);
  options += scalar_of(call.type) == DType::F64 ? " -D TO=double" : " -D TO=float";
  if (call.x_type == DType::F64 && is_16_bit(call.type)) options += " -D NARROWS_F64";
  return Launch(queue, {"convert.cl", source::convert_cl}, options, "convert")
      .value<cl_long>(call.rows)
      .value<cl_long>(call.cols)
      .operand(call.x, size_of(call.x_type))
      .value<cl_long>(call.ldx)
      .operand(call.z, size_of(call.type))
      .value<cl_long>(call.ldz)
      .run(elements(call.rows, call.cols), element_group);
}

} // namespace

Status map(Queue& queue, const MapCall& call) {
  if (call.rows == 0 || call.cols == 0) return {};
  if (Status status = has_type(queue, call.type); !status.ok()) return status;
  switch (call.op) {
    case MapOp::Fill:
      return Elementwise(queue, call, "fill").scalar(call.alpha).matrix(call.z, call.ldz).run();
    case MapOp::Identity:
      return Elementwise(queue, call, "identity").scalar(call.alpha).matrix(call.z, call.ldz).run();
    case MapOp::Scale:
      return Elementwise(queue, call, "scale")
          .scalar(call.alpha)
          .matrix(call.x, call.ldx)
          .matrix(call.z, call.ldz)
          .run();
    case MapOp::Axpby:
      return Elementwise(queue, call, "axpby")
          .scalar(call.alpha)
          .matrix(call.x, call.ldx)
          .scalar(call.beta)
          .matrix(call.y, call.ldy)
          .matrix(call.z, call.ldz)
          .run();
    case MapOp::Multiply:
      return Elementwise(queue, call, "multiply")
          .matrix(call.x, call.ldx)
          .matrix(call.y, call.ldy)
          .matrix(call.z, call.ldz)
          .run();
    case MapOp::Transpose:
      return transpose(queue, call);
    case MapOp::Convert:
      return convert(queue, call);
    case MapOp::ExpandComplex:
    case MapOp::CopyComplex:
    case MapOp::CombineComplex:
      return map_complex(queue, call);
  }
  return {StatusCode::InvalidArgument, "unknown element-wise operation"};
}

} // namespace tessera::opencl
