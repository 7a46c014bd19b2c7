/// Reads the header of a .npy file (NumPy's format 1.0 to 3.0): "\x93NUMPY", two bytes of version, the header's length
/// in two bytes (four from 2.0 on), and a Python dictionary with the keys descr, fortran_order and shape.

#include "npy_header.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>

#include <tessera/detail/open_file.hpp>
#include <tessera/detail/type_words.hpp>
#include <tessera/status.hpp>

#include "npy_dictionary.hpp"

namespace tessera::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_header = std::size_t{1} << 20;

[[noreturn]] void fail(const fs::path& path, const std::string& why) { throw IoError(path.string() + ": " + why); }

std::string read_text(std::ifstream& file, std::size_t count, std::uintmax_t from, const fs::path& path) {
  std::string bytes(count, '\0');
  if (!read_bytes(file, bytes.data(), count, from, path))
    fail(path, "is truncated: it ends within the header of the .npy format");
  return bytes;
}

/// Returns the value of a key that the header must have.
const NpyValue& value_of(const std::optional<NpyValue>& value, const char* key, const fs::path& path) {
  if (!value) fail(path, "has a .npy header without the key '" + std::string(key) + "'");
  return *value;
}

/// Returns NumPy's code of the type with its byte order, "<f4" for "float32" or "f4": NumPy writes codes, and reads the
/// other names of a type as well. What is unknown stays as it is.
std::string descr_of(const NpyValue& value) {
  struct Name {
    std::string_view name, code;
  };
  static constexpr Name names[] = {{"single", "f4"},    {"double", "f8"}, {"float", "f8"}, {"half", "f2"},
                                   {"complex64", "c8"}, {"F", "c8"},      {"D", "c16"},    {"complex128", "c16"}};
  if (!value.text) return "a structured type";
  std::string_view rest = *value.text;
  constexpr char native = std::endian::native == std::endian::little ? '<' : '>';
  char order = native;
  if (!rest.empty() && std::string_view("<>|=").find(rest.front()) != std::string_view::npos) {
    if (rest.front() != '=') order = rest.front();
    rest.remove_prefix(1);
  }
  for (const Name& known : names)
    if (rest == known.name) return order + std::string(known.code);
  for (const ElementType& known : known_types) // a letter of the buffer protocol is a name of NumPy's, too
    if (!known.npy.empty() && !known.buffer.empty() && (rest == known.array_name || rest == known.buffer))
      return order + std::string(known.npy);
  // Only bytes have no order; NumPy reads '|f4' as the machine's own.
  if (order == '|' && rest.starts_with('f') && !rest.ends_with('1')) order = native;
  if (rest == *value.text && (rest.empty() || rest.size() > 3)) return *value.text; // no code: a name
  return order + std::string(rest);
}

std::vector<Index> shape_of(const NpyValue& value, const fs::path& path) {
  if (!value.is_tuple) fail(path, "has a .npy header whose shape is not a tuple");
  if (!value.sizes || std::any_of(value.sizes->begin(), value.sizes->end(), [](Index size) { return size < 0; }))
    fail(path, "has a .npy header whose shape is not made of sizes");
  return *value.sizes;
}

} // namespace

bool read_bytes(std::ifstream& file, char* to, std::size_t count, std::uintmax_t from, const fs::path& path) {
  errno = 0;
  try {
    file.read(to, static_cast<std::streamsize>(count));
  } catch (const std::ios_base::failure&) {
    fail(path, "cannot be read from byte " + std::to_string(from) + " on: " + std::strerror(errno) +
                   "; is the disk or the connection faulty?");
  }
  return static_cast<bool>(file);
}

NpyHeader read_npy_header(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) fail(path, "is a folder, not a .npy file");
  if (fs::is_fifo(path, error)) fail(path, "is a pipe; a .npy file is read more than once: write it to a file first");
  std::ifstream file = detail::open_file(path, std::ios::binary);
  if (!file) fail(path, std::string("cannot be read: ") + std::strerror(errno));
  char magic[6] = {};
  if (!read_bytes(file, magic, sizeof magic, 0, path) || std::memcmp(magic, "\x93NUMPY", sizeof magic) != 0)
    fail(path, "is not a .npy file: it does not start with \\x93NUMPY");
  const std::string version = read_text(file, 2, 6, path);
  const int major = static_cast<unsigned char>(version[0]);
  if (major < 1 || major > 3)
    fail(path, "has version " + std::to_string(major) + " of the .npy format; 1 to 3 are known");
  const std::string length_bytes = read_text(file, major == 1 ? 2 : 4, 8, path);
  std::size_t length = 0;
  for (std::size_t i = length_bytes.size(); i-- > 0;)
    length = length << 8 | static_cast<unsigned char>(length_bytes[i]);
  if (length > largest_header) fail(path, "has a .npy header of " + std::to_string(length) + " bytes");
  const std::string text = read_text(file, length, 8 + length_bytes.size(), path);

  const std::optional<NpyDictionary> dictionary = parse_npy_dictionary(text);
  if (!dictionary) fail(path, "has a .npy header that is not a dictionary of Python: descr, fortran_order and shape");
  NpyHeader header;
  header.descr = descr_of(value_of(dictionary->descr, "descr", path));
  header.shape = shape_of(value_of(dictionary->shape, "shape", path), path);
  const NpyValue& order = value_of(dictionary->fortran_order, "fortran_order", path);
  if (!order.truth) fail(path, "has a .npy header whose fortran_order is neither True nor False");
  header.fortran_order = *order.truth;
  header.data_offset = 6 + 2 + length_bytes.size() + length;
  return header;
}

std::string describe_type(const std::string& descr) {
  static const std::vector<std::pair<std::string, std::string>> names{
      {"f2", "float16"}, {"f4", "float32"},   {"f8", "float64"},     {"i1", "int8"},   {"i2", "int16"},
      {"i4", "int32"},   {"i8", "int64"},     {"u1", "uint8"},       {"u2", "uint16"}, {"u4", "uint32"},
      {"u8", "uint64"},  {"c8", "complex64"}, {"c16", "complex128"}, {"b1", "bool"}};
  for (const auto& [code, name] : names)
    if (descr.size() > 1 && descr.substr(1) == code) return (descr[0] == '>' ? "big-endian " : "") + name;
  return "'" + descr + "'";
}

std::string describe_shape(const std::vector<Index>& shape) {
  std::string text;
  for (const Index size : shape) text += (text.empty() ? "" : "×") + std::to_string(size);
  return text;
}

void check_length(const NpyHeader& header, const fs::path& path, std::string_view type, std::size_t bytes) {
  const Index element = static_cast<Index>(bytes);
  const Index largest = std::numeric_limits<Index>::max() / element;
  constexpr Index padding = 64; // a matrix in memory has rows longer by less than this, even where it has no columns
  Index elements = 1;
  Index padded = 1; // elements with those paddings
  for (std::size_t d = 0; d < header.shape.size(); ++d) {
    const Index size = header.shape[d];
    const bool is_row = d + 1 == header.shape.size();
    if ((is_row && size > largest - padding) || padded > largest / std::max<Index>(1, is_row ? size + padding : size))
      fail(path, "says that it is " + describe_shape(header.shape) + ", which overflows the address space");
    padded *= std::max<Index>(1, is_row ? size + padding : size);
    elements *= size;
  }
  const auto promised = static_cast<std::uintmax_t>(elements * element);
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) fail(path, "cannot be read: " + error.message());
  const std::uintmax_t present = size - std::min<std::uintmax_t>(size, header.data_offset);
  if (present < promised)
    fail(path, "is truncated: its header promises " + describe_shape(header.shape) + " " + std::string(type) +
                   " elements, " + std::to_string(promised) + " bytes, but only " + std::to_string(present) +
                   " follow");
}

namespace {

/// Takes the shape of the header. Throws IoError if it is no matrix, or if the file is shorter than its header says.
void set_shape(NpyInfo& info, const NpyHeader& header, std::size_t bytes, std::string_view type, const fs::path& path) {
  if (header.shape.size() != 2) {
    const std::string shape = describe_shape(header.shape);
    fail(path, "has " + std::to_string(header.shape.size()) + " dimensions" +
                   (shape.empty() ? "" : " (" + shape + ")") + "; a matrix has two: reshape it first");
  }
  info.rows = header.shape[0];
  info.cols = header.shape[1];
  info.fortran_order = header.fortran_order;
  check_length(header, path, type, bytes);
}

} // namespace

NpyInfo matrix_of(const NpyHeader& header, const fs::path& path) {
  NpyInfo info;
  const std::string_view descr = header.descr;
  const auto* const found = std::find_if(element_types.begin(), element_types.end(), [&](const ElementType& type) {
    // Bytes without a type have no order: NumPy saves ml_dtypes.bfloat16 as "<V2" or "|V2".
    const bool little_endian = descr.starts_with('<') || (descr.starts_with('|') && type.npy.starts_with('V'));
    return little_endian && !type.npy.empty() && descr.substr(1) == type.npy;
  });
  if (found == element_types.end())
    fail(path, "holds " + describe_type(header.descr) + "; a matrix is read from " +
                   detail::type_words(element_types, &ElementType::array_name, "or",
                                      [](const ElementType& type) { return !type.npy.empty(); }) +
                   ", little-endian: convert it, as with a.astype('<f4') in NumPy");
  info.type = found->type;
  set_shape(info, header, size_of(info.type), to_string(info.type), path);
  return info;
}

NpyInfo complex_matrix_of(const NpyHeader& header, const fs::path& path, DType part) {
  const std::string code(tessera::detail::NumberType(part, true).npy());
  if (header.descr != "<" + code)
    fail(path, "holds " + describe_type(header.descr) + "; expected " + describe_type("<" + code) +
                   ", little-endian: convert it, as with a.astype('<" + code + "') in NumPy");
  NpyInfo info;
  info.type = part;
  set_shape(info, header, 2 * size_of(part), describe_type("<" + code), path);
  return info;
}

std::string npy_header_of(tessera::detail::NumberType type, Index rows, Index cols) {
  if (type.npy().empty())
    throw InvalidArgument("a .npy file says of elements of " + std::string(to_string(type.part)) +
                          " only how many bytes they have; convert the matrix to " +
                          std::string(to_string(scalar_of(type.part))));
  return npy_header_of(type.npy(), rows, cols);
}

std::string npy_header_of(std::string_view code, Index rows, Index cols) {
  std::string dictionary = "{'descr': '<" + std::string(code) + "', 'fortran_order': False, 'shape': (" +
                           std::to_string(rows) + ", " + std::to_string(cols) + "), }";
  constexpr std::size_t before = 10; // bytes of magic, version and length; elements begin at a multiple of 64
  dictionary.append(63 - (before + dictionary.size()) % 64, ' ').push_back('\n');
  std::string header("\x93NUMPY\x01\x00", 8);
  header.push_back(static_cast<char>(dictionary.size() & 0xFF));
  header.push_back(static_cast<char>(dictionary.size() >> 8));
  return header + dictionary;
}

} // namespace tessera::io
