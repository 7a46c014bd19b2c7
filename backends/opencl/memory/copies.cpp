#include "copies.hpp"

#include "opencl/device/status.hpp"

namespace tessera::opencl {
namespace {

/// Makes one long row of rows without gaps.
CopyShape merged(const CopyShape& shape) {
  if (shape.rows > 1 && (shape.to_pitch != shape.width || shape.from_pitch != shape.width)) return shape;
  const std::size_t bytes = shape.width * shape.rows;
  return {bytes, bytes, bytes, 1};
}

/// The origin of a rectangle that begins `offset` bytes into a buffer whose rows are `pitch` bytes apart: a byte and a
/// row. Where a row of the rectangle would go on into the next one of such rows, it is a byte alone; drivers add the
/// two up, but some like a rectangle within its rows better.
struct Origin {
  std::size_t at[3];
  Origin(std::size_t offset, std::size_t pitch, std::size_t width) : at{offset % pitch, offset / pitch, 0} {
    if (at[0] + width <= pitch) return;
    at[0] = offset;
    at[1] = 0;
  }
};

constexpr std::size_t host_origin[3] = {0, 0, 0};

} // namespace

Status copy_in(const DeviceMemory& memory, cl_command_queue queue, void* to, const void* from, CopyShape shape,
               bool waits) {
  if (shape.width == 0 || shape.rows == 0) return {};
  Place place;
  if (Status status = memory.find(to, place); !status.ok()) return status;
  shape = merged(shape);
  const cl_bool blocking = waits ? CL_TRUE : CL_FALSE;
  if (shape.rows == 1)
    return check(
        cl().EnqueueWriteBuffer(queue, place.buffer, blocking, place.offset, shape.width, from, 0, nullptr, nullptr),
        "copying to the device");
  const std::size_t region[3] = {shape.width, shape.rows, 1};
  return check(cl().EnqueueWriteBufferRect(queue, place.buffer, blocking,
                                           Origin(place.offset, shape.to_pitch, shape.width).at, host_origin, region,
                                           shape.to_pitch, 0, shape.from_pitch, 0, from, 0, nullptr, nullptr),
               "copying rows to the device");
}

Status copy_out(const DeviceMemory& memory, cl_command_queue queue, void* to, const void* from, CopyShape shape,
                bool waits) {
  if (shape.width == 0 || shape.rows == 0) return {};
  Place place;
  if (Status status = memory.find(from, place); !status.ok()) return status;
  shape = merged(shape);
  const cl_bool blocking = waits ? CL_TRUE : CL_FALSE;
  if (shape.rows == 1)
    return check(
        cl().EnqueueReadBuffer(queue, place.buffer, blocking, place.offset, shape.width, to, 0, nullptr, nullptr),
        "copying to the host");
  const std::size_t region[3] = {shape.width, shape.rows, 1};
  return check(
      cl().EnqueueReadBufferRect(queue, place.buffer, blocking, Origin(place.offset, shape.from_pitch, shape.width).at,
                                 host_origin, region, shape.from_pitch, 0, shape.to_pitch, 0, to, 0, nullptr, nullptr),
      "copying rows to the host");
}

Status copy_within(const DeviceMemory& memory, cl_command_queue queue, void* to, const void* from, CopyShape shape) {
  if (shape.width == 0 || shape.rows == 0) return {};
  Place source, target;
  if (Status status = memory.find(from, source); !status.ok()) return status;
  if (Status status = memory.find(to, target); !status.ok()) return status;
  shape = merged(shape);
  if (shape.rows == 1)
    return check(cl().EnqueueCopyBuffer(queue, source.buffer, target.buffer, source.offset, target.offset, shape.width,
                                        0, nullptr, nullptr),
                 "copying within the device");
  if (source.buffer == target.buffer && shape.from_pitch != shape.to_pitch) { // OpenCL has no such rectangles
    for (std::size_t row = 0; row < shape.rows; ++row)
      if (Status status =
              check(cl().EnqueueCopyBuffer(queue, source.buffer, target.buffer, source.offset + row * shape.from_pitch,
                                           target.offset + row * shape.to_pitch, shape.width, 0, nullptr, nullptr),
                    "copying a row within the device");
          !status.ok())
        return status;
    return {};
  }
  const std::size_t region[3] = {shape.width, shape.rows, 1};
  return check(cl().EnqueueCopyBufferRect(queue, source.buffer, target.buffer,
                                          Origin(source.offset, shape.from_pitch, shape.width).at,
                                          Origin(target.offset, shape.to_pitch, shape.width).at, region,
                                          shape.from_pitch, 0, shape.to_pitch, 0, 0, nullptr, nullptr),
               "copying rows within the device");
}

} // namespace tessera::opencl
