/// Reads and writes comma-separated text. xtensor writes it. The reader is our own, because xtensor's takes "1x" for 1,
/// rejects subnormal numbers, and cannot say where an error is.

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#if defined(TESSERA_HAVE_XTENSOR) && __has_include(<xtensor/io/xcsv.hpp>) // xtensor 0.26 and later have folders
#include <xtensor/io/xcsv.hpp>
#elif defined(TESSERA_HAVE_XTENSOR)
#include <xtensor/xcsv.hpp>
#endif

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/open_file.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>
#if defined(TESSERA_HAVE_XTENSOR)
#include <tessera/interop/xtensor.hpp>
#endif

#include "core/files/output_file.hpp"

namespace tessera {

namespace fs = std::filesystem;

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Returns the field without its plus sign; empty if it cannot be a number, though std::from_chars would take it for
/// one: a second sign, or a nan with something in brackets.
std::string_view number_of(std::string_view field) {
  if (field.starts_with('+')) {
    field.remove_prefix(1);
    if (field.starts_with('-')) return {};
  }
  return field.find('(') == std::string_view::npos ? field : std::string_view();
}

/// Reads 16-bit elements by way of float64. The second rounding shows only in numbers of 17 and more digits that lie
/// next to the middle of two elements.
template <class T>
T parse_field(std::string_view field, const std::string& where) {
  const std::string_view digits = number_of(field);
  using Read = std::conditional_t<sizeof(T) == 2, double, T>;
  Read value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const T element(value);
  if (error == std::errc::result_out_of_range ||
      (std::isfinite(value) && !std::isfinite(static_cast<double>(element))) || (value != 0 && element == 0))
    throw IoError(where + "'" + std::string(field) + "' is out of the range of " + std::string(to_string(dtype_of<T>)));
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw IoError(where + "'" + std::string(field) + "' is not a number");
  return element;
}

/// Appends the fields of one line and returns how many there are.
template <class T>
Index parse_line(std::string_view line, const std::string& where, std::vector<T>& values) {
  Index fields = 0;
  while (true) {
    const std::size_t comma = line.find(',');
    values.push_back(
        parse_field<T>(trimmed(line.substr(0, comma)), where + ", field " + std::to_string(++fields) + ": "));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

/// Reads a line; false at the end of the file.
bool next_line(std::ifstream& file, std::string& line, Index number, const fs::path& path) try {
  return static_cast<bool>(std::getline(file, line));
} catch (const std::ios_base::failure&) {
  throw IoError(path.string() + ": cannot be read from line " + std::to_string(number) +
                " on: " + std::strerror(errno) + "; is the disk or the connection faulty?");
}

/// Takes the mark of UTF-8 off the first line. Throws IoError where the line begins as UTF-16 or UTF-32 does.
void take_mark(std::string& line, const fs::path& path) {
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.starts_with("\xFF\xFE") || line.starts_with("\xFE\xFF"))
    throw IoError(path.string() + ": is UTF-16 or UTF-32 text; save it as UTF-8 or ASCII");
}

} // namespace

template <FileElement T>
Matrix<T> load_csv(const fs::path& path) try {
  const detail::Uncancelled whole;
  const detail::ContractArithmetic contract;
  std::error_code error;
  if (fs::is_directory(path, error)) throw IoError(path.string() + ": is a folder, not a text file");
  std::ifstream file = detail::open_file(path);
  if (!file) throw IoError(path.string() + ": cannot be read: " + std::strerror(errno));
  std::vector<T> values;
  Index rows = 0;
  Index cols = 0;
  std::string line;
  for (Index number = 1; next_line(file, line, number, path); ++number) {
    if (number == 1) take_mark(line, path);
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    const std::string where = path.string() + ": line " + std::to_string(number);
    const Index fields = parse_line(text, where, values);
    if (rows > 0 && fields != cols)
      throw IoError(where + " has " + std::to_string(fields) + " fields, the lines before have " +
                    std::to_string(cols));
    cols = fields;
    ++rows;
  }
  auto matrix = Matrix<T>::uninitialized(rows, cols);
  for (Index i = 0; i < rows; ++i)
    std::copy_n(values.begin() + i * cols, static_cast<std::size_t>(cols), matrix.row(i).begin());
  return matrix;
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

template TESSERA_API_INSTANCE Matrix<float> load_csv<float>(const fs::path& path);
template TESSERA_API_INSTANCE Matrix<double> load_csv<double>(const fs::path& path);
template TESSERA_API_INSTANCE Matrix<f16> load_csv<f16>(const fs::path& path);
template TESSERA_API_INSTANCE Matrix<bf16> load_csv<bf16>(const fs::path& path);

namespace detail {
#if defined(TESSERA_HAVE_XTENSOR)
namespace {

template <class T>
void write_csv_elements(std::ostream& out, const Operand& source) {
  out.precision(std::numeric_limits<T>::max_digits10);
  xt::dump_csv(out, as_xtensor(MatrixView<const T>(source)));
}

void write_csv_elements(std::ostream& out, const Operand& source) {
  const DType type = source.storage->type(), scalar = scalar_of(type);
  visit_scalar(type, [&]<class T>(std::type_identity<T>) {
    if (type == scalar) return write_csv_elements<T>(out, source);
    const Operand wide{create_storage(source.rows, source.cols, scalar), 0, 0, source.rows, source.cols, source.op};
    copy(source, wide);
    write_csv_elements<T>(out, wide);
  });
}

} // namespace

void write_csv(const fs::path& path, const Operand& source) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  errno = 0;
  io::OutputFile file(path);
  if (source.rows > 0 && source.cols > 0) write_csv_elements(file.stream(), source);
  file.commit();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}
#else
void write_csv(const fs::path& path, const Operand&) {
  throw IoError(path.string() +
                ": cannot be written, because libtessera was built without xtensor, which writes .csv " +
                "files; build it with -DTESSERA_XTENSOR=ON, or save a .npy file");
}
#endif

} // namespace detail
} // namespace tessera
