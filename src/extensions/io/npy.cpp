/// Reads and writes .npy files. xtensor's reader does not notice a truncated file, and misreads headers longer than 127
/// bytes; its writer knows no 16-bit elements, and does not notice a full disk.

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/open_file.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/half.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "core/files/output_file.hpp"
#include "npy_header.hpp"

namespace tessera {

namespace fs = std::filesystem;

NpyInfo inspect_npy(const fs::path& path) try {
  const detail::ContractArithmetic contract;
  return io::matrix_of(io::read_npy_header(path), path);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

namespace detail {
namespace {

template <class T>
bool read_elements(std::ifstream& file, const NpyInfo& info, std::uintmax_t offset, const Operand& target,
                   const fs::path& path) {
  T* data = static_cast<T*>(target.storage->host_write());
  const Index ld = target.storage->ld();
  const auto bytes = [](Index count) { return static_cast<std::size_t>(count) * sizeof(T); };
  if (!info.fortran_order) {
    for (Index i = 0; i < info.rows; ++i, offset += bytes(info.cols))
      if (!io::read_bytes(file, reinterpret_cast<char*>(data + i * ld), bytes(info.cols), offset, path)) return false;
    return true;
  }
  auto columns = sized_vector<T>(static_cast<std::size_t>(info.rows * info.cols), "the columns of a file");
  if (!io::read_bytes(file, reinterpret_cast<char*>(columns.data()), bytes(info.rows * info.cols), offset, path))
    return false;
  for (Index i = 0; i < info.rows; ++i)
    for (Index j = 0; j < info.cols; ++j) data[i * ld + j] = columns[static_cast<std::size_t>(j * info.rows + i)];
  return true;
}

/// xtensor's writer knows no 16-bit elements, and does not report failed writes.
template <class T>
void write_npy_elements(std::ostream& file, const Operand& source) {
  const Matrix<T> straight{MatrixView<const T>(source)};
  file << io::npy_header_of(dtype_of<T>, straight.rows(), straight.cols());
  for (Index i = 0; i < straight.rows(); ++i)
    file.write(reinterpret_cast<const char*>(straight.row(i).data()),
               static_cast<std::streamsize>(sizeof(T) * static_cast<std::size_t>(straight.cols())));
}

} // namespace

NpyInfo inspect_npy(const fs::path& path, DType expected) {
  const NpyInfo info = tessera::inspect_npy(path);
  if (info.type != expected)
    throw IoError(path.string() + ": holds " + std::string(to_string(info.type)) + " elements, but " +
                  std::string(to_string(expected)) + " was asked for; load it as " + std::string(to_string(info.type)) +
                  " or convert the file");
  return info;
}

void read_npy(const fs::path& path, const Operand& target) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  const io::NpyHeader header = io::read_npy_header(path);
  const NpyInfo info = io::matrix_of(header, path);
  if (info.type != target.storage->type() || info.rows != target.rows || info.cols != target.cols)
    throw IoError(path.string() + ": was changed while it was read");
  if (info.rows == 0 || info.cols == 0) return;
  std::ifstream file = open_file(path, std::ios::binary);
  if (!file) throw IoError(path.string() + ": cannot be read: " + std::strerror(errno));
  file.seekg(static_cast<std::streamoff>(header.data_offset));
  const bool read_all = visit(info.type, [&]<class T>(std::type_identity<T>) {
    return read_elements<T>(file, info, header.data_offset, target, path);
  });
  if (!read_all) throw IoError(path.string() + ": was truncated while it was read");
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void write_npy(const fs::path& path, const Operand& source) try {
  const Uncancelled whole;
  const ContractArithmetic contract; // a view is copied straight first
  errno = 0;
  io::OutputFile file(path);
  visit(source.storage->type(), [&]<class T>(std::type_identity<T>) { write_npy_elements<T>(file.stream(), source); });
  file.commit();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace detail
} // namespace tessera
