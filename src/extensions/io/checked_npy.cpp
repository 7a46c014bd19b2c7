/// Reads .npy files of every type that a check reads.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/checking/check.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/open_file.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/status.hpp>

#include "npy_header.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

CheckedType type_of(const io::NpyHeader& header, const fs::path& path, std::optional<CheckedType> opaque) {
  const std::string_view descr = header.descr;
  std::string_view code = descr.empty() ? descr : descr.substr(1);
  const bool in_order = descr.starts_with('<') || descr.starts_with('|');
  if (code == "f1") code = "V1"; // ml_dtypes has used both
  const auto is_bytes = [&](const ElementType& type) {
    return type.npy.empty() && code == std::string("V").append(std::to_string(type.bytes));
  };
  if (in_order && opaque && is_bytes(element_type(static_cast<DType>(*opaque)))) return *opaque;
  for (const ElementType& type : known_types)
    if (in_order && !type.npy.empty() && code == type.npy) return static_cast<CheckedType>(type.type);
  if (in_order && std::any_of(known_types.begin(), known_types.end(), is_bytes))
    throw IoError(path.string() + ": holds bytes without a type ('" + header.descr + "'); say whether they are " +
                  detail::type_words(known_types, &ElementType::name, "or", is_bytes));
  throw IoError(path.string() + ": holds " + io::describe_type(header.descr) + "; a check reads " +
                detail::type_words(known_types, &ElementType::array_name, "and") + ", little-endian");
}

} // namespace

CheckedFile load_checked_npy(const fs::path& path, std::optional<CheckedType> opaque) try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  const io::NpyHeader header = io::read_npy_header(path);
  const CheckedTypeInfo& type = checked_type(type_of(header, path, opaque));
  const std::size_t dimensions = header.shape.size();
  if (dimensions != 2 && dimensions != 3)
    throw IoError(path.string() + ": has " + std::to_string(dimensions) + " dimensions (" +
                  io::describe_shape(header.shape) + "); a matrix has two, and a batch of matrices three");
  if (dimensions == 3 && header.fortran_order)
    throw IoError(path.string() + ": is an array of three dimensions in Fortran order; save it with " +
                  "numpy.ascontiguousarray");
  io::check_length(header, path, type.name, type.bytes);
  CheckedFile file;
  file.is_batch = dimensions == 3;
  file.count = file.is_batch ? header.shape[0] : 1;
  const Index rows = header.shape[dimensions - 2], cols = header.shape[dimensions - 1];
  file.stride = rows * cols;
  file.bytes.resize(static_cast<std::size_t>(file.count * file.stride) * type.bytes);
  std::ifstream stream = detail::open_file(path, std::ios::binary);
  if (!stream) throw IoError(path.string() + ": cannot be read: " + std::strerror(errno));
  stream.seekg(static_cast<std::streamoff>(header.data_offset));
  if (!io::read_bytes(stream, file.bytes.data(), file.bytes.size(), header.data_offset, path))
    throw IoError(path.string() + ": was truncated while it was read");
  file.first = {type.type, file.bytes.data(), rows, cols, std::max<Index>(cols, 1)};
  if (header.fortran_order)
    file.first = {type.type, file.bytes.data(), cols, rows, std::max<Index>(rows, 1), Op::Transpose};
  return file;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
