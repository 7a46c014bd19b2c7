#pragma once

/// The C structures of DLPack, through which array libraries hand memory to one another: https://dmlc.github.io/dlpack.
/// Both capsules are in use: "dltensor" up to version 0.8, "dltensor_versioned" from 1.0 on. From 1.3 on a library may
/// also export a table of C functions (ExchangeApi), which need no call of Python.

#include <cstdint>

#include <tessera/detail/number_type.hpp>

namespace tessera::python::dlpack {

enum class DeviceType : std::int32_t { Cpu = 1, Cuda = 2, CudaHost = 3, CudaManaged = 13 };

struct Device {
  DeviceType type = DeviceType::Cpu;
  std::int32_t id = 0;
};

enum class TypeCode : std::uint8_t { Int = 0, UInt = 1, Float = 2, Bfloat = 4, Complex = 5, Bool = 6 };

struct DataType {
  TypeCode code = TypeCode::Float;
  std::uint8_t bits = 0;
  std::uint16_t lanes = 1;
};

/// Returns DLPack's name of an element type.
constexpr DataType data_type(tessera::detail::NumberType type) {
  return {static_cast<TypeCode>(type.dlpack()), static_cast<std::uint8_t>(8 * type.bytes()), 1};
}

/// A tensor. Shape and strides count elements; null strides mean row-major without gaps.
struct Tensor {
  void* data = nullptr;
  Device device;
  std::int32_t ndim = 0;
  DataType dtype;
  std::int64_t* shape = nullptr;
  std::int64_t* strides = nullptr;
  std::uint64_t byte_offset = 0;
};

struct Managed {
  Tensor tensor;
  void* context = nullptr;
  void (*deleter)(Managed*) = nullptr;

  static constexpr const char* capsule = "dltensor";
  static constexpr const char* used_capsule = "used_dltensor";
};

struct ManagedVersioned {
  std::uint32_t major = 1;
  std::uint32_t minor = 0;
  void* context = nullptr;
  void (*deleter)(ManagedVersioned*) = nullptr;
  std::uint64_t flags = 0;
  Tensor tensor;

  static constexpr std::uint64_t read_only = 1;
  static constexpr std::uint64_t is_copied = 2; ///< the producer copied the elements for this export
  static constexpr const char* capsule = "dltensor_versioned";
  static constexpr const char* used_capsule = "used_dltensor_versioned";
};

/// The functions by which a library lets others read its tensors and make new ones. The table lives as long as the
/// process. A function that returns a number returns 0, or it has set Python's exception. No function synchronises.
struct ExchangeApi {
  std::uint32_t major = 0; ///< the structure may be read if this is 1
  std::uint32_t minor = 0;
  const ExchangeApi* earlier = nullptr; ///< the table of an earlier major version, or null

  /// Makes a tensor of the prototype's shape, type and device. An error goes to `set_error`.
  int (*allocate)(Tensor* prototype, ManagedVersioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, ManagedVersioned** out);
  int (*managed_to_object)(ManagedVersioned* tensor, void** object); ///< takes the tensor over
  int (*borrow)(void* object, Tensor* out); ///< shape and strides stay the object's; may be null
  int (*current_stream)(DeviceType type, std::int32_t device, void** stream);

  static constexpr const char* capsule = "dlpack_exchange_api";
};

} // namespace tessera::python::dlpack
