#include "product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <vector>

#include "gemm_lens/runtime/memory.hpp"

namespace tessera::lens {
namespace {

/// A whole number from −4 to 4 that follows from the place alone, so that nothing has to be kept for the check.
int element(std::uint64_t matrix, std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + matrix * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 31) * 0x94d049bb133111ebu;
  return static_cast<int>((x ^ x >> 29) % 9) - 4;
}

/// The leading dimension of rows of so many elements.
template <class T>
long ld_of(long columns, long padding) {
  constexpr long line = 64 / sizeof(T);
  return padding < 0 ? (columns + line - 1) / line * line : columns + padding;
}

/// Makes a matrix, with NaN between its rows.
template <class T>
T* make(std::uint64_t number, const char* name, long rows, long columns, long ld, bool filled) {
  const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(ld);
  if (count > DeviceMemory::size / sizeof(T)) return nullptr;
  T* const data = static_cast<T*>(device_memory().allocate(count * sizeof(T), name));
  if (data == nullptr) return nullptr;
  Allocation& made = *device_memory().all().back();
  made.element = sizeof(T);
  made.rows = static_cast<std::size_t>(rows);
  made.columns = static_cast<std::size_t>(columns);
  made.ld = static_cast<std::size_t>(ld);
  for (long row = 0; row < rows; ++row) {
    T* const line = data + row * ld;
    for (long column = 0; filled && column < columns; ++column)
      line[column] = static_cast<T>(element(number, static_cast<std::uint64_t>(row * columns + column)));
    std::fill(line + columns, line + ld, std::numeric_limits<T>::quiet_NaN()); // allocate() fills only the first bytes
  }
  return data;
}

enum : std::uint64_t { number_of_a = 1, number_of_b = 2, number_of_c = 3 };

template <class T>
std::string changed(const char* name, std::uint64_t number, const void* data, long rows, long columns, long ld) {
  const T* const values = static_cast<const T*>(data);
  for (long row = 0; row < rows; ++row)
    for (long column = 0; column < columns; ++column)
      if (values[row * ld + column] !=
          static_cast<T>(element(number, static_cast<std::uint64_t>(row * columns + column)))) {
        std::ostringstream out;
        out << name << "(" << row << ", " << column << ") was changed; a kernel must not write its operands";
        return out.str();
      }
  return {};
}

/// Looks for a write between the rows.
template <class T>
std::string written_between(const char* name, const void* data, long rows, long columns, long ld) {
  const T* const values = static_cast<const T*>(data);
  for (long row = 0; row < rows; ++row)
    for (long column = columns; column < ld; ++column)
      if (!std::isnan(values[row * ld + column])) {
        std::ostringstream out;
        out << "something was written to " << name << "(" << row << ", " << column << "), past the row's end at column "
            << columns << ": is a guard missing?";
        return out.str();
      }
  return {};
}

} // namespace

template <class T>
bool Product::fill() {
  const long rows_a = task_.trans_a ? task_.k : task_.m, columns_a = task_.trans_a ? task_.m : task_.k;
  const long rows_b = task_.trans_b ? task_.n : task_.k, columns_b = task_.trans_b ? task_.k : task_.n;
  call_.lda = ld_of<T>(columns_a, task_.ld_pad);
  call_.ldb = ld_of<T>(columns_b, task_.ld_pad);
  call_.ldc = ld_of<T>(task_.n, task_.ld_pad);
  call_.a = make<T>(number_of_a, "A", rows_a, columns_a, call_.lda, true);
  call_.b = make<T>(number_of_b, "B", rows_b, columns_b, call_.ldb, true);
  call_.c = make<T>(number_of_c, "C", task_.m, task_.n, call_.ldc, task_.beta != 0);
  return call_.a != nullptr && call_.b != nullptr && call_.c != nullptr;
}

bool Product::prepare(const Task& task) {
  task_ = task;
  call_.struct_size = sizeof call_;
  call_.abi_version = TESSERA_KERNEL_ABI_VERSION;
  call_.type = task.f64 ? TESSERA_KERNEL_F64 : TESSERA_KERNEL_F32;
  call_.trans_a = task.trans_a;
  call_.trans_b = task.trans_b;
  call_.threads = 1;
  call_.m = task.m;
  call_.n = task.n;
  call_.k = task.k;
  call_.alpha = task.alpha;
  call_.beta = task.beta;
  return task.f64 ? fill<double>() : fill<float>();
}

template <class T>
std::string Product::compare_as() const {
  const long rows_a = task_.trans_a ? task_.k : task_.m, columns_a = task_.trans_a ? task_.m : task_.k;
  const long rows_b = task_.trans_b ? task_.n : task_.k, columns_b = task_.trans_b ? task_.k : task_.n;
  for (std::string& text : std::vector<std::string>{changed<T>("A", number_of_a, call_.a, rows_a, columns_a, call_.lda),
                                                    changed<T>("B", number_of_b, call_.b, rows_b, columns_b, call_.ldb),
                                                    written_between<T>("A", call_.a, rows_a, columns_a, call_.lda),
                                                    written_between<T>("B", call_.b, rows_b, columns_b, call_.ldb),
                                                    written_between<T>("C", call_.c, task_.m, task_.n, call_.ldc)})
    if (!text.empty()) return text;
  std::vector<double> row(static_cast<std::size_t>(task_.n)), size(row.size());
  const double unit = std::numeric_limits<T>::epsilon();
  std::string first;
  long wrong = 0;
  for (long i = 0; i < task_.m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    std::fill(size.begin(), size.end(), 0.0);
    for (long p = 0; p < task_.k; ++p) {
      const double a =
          element(number_of_a, static_cast<std::uint64_t>(task_.trans_a ? p * task_.m + i : i * task_.k + p));
      for (long j = 0; j < task_.n; ++j) {
        const double b =
            element(number_of_b, static_cast<std::uint64_t>(task_.trans_b ? j * task_.k + p : p * task_.n + j));
        row[static_cast<std::size_t>(j)] += a * b;
        size[static_cast<std::size_t>(j)] += std::fabs(a * b);
      }
    }
    for (long j = 0; j < task_.n; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const double old = element(number_of_c, static_cast<std::uint64_t>(i * task_.n + j));
      const double expected = task_.alpha * row[at] + task_.beta * old;
      const double bound =
          static_cast<double>(task_.k + 3) * unit * (std::fabs(task_.alpha) * size[at] + std::fabs(task_.beta * old));
      const double found = static_cast<const T*>(call_.c)[i * call_.ldc + j];
      if (std::fabs(found - expected) <= bound) continue;
      if (wrong++ == 0) {
        std::ostringstream out;
        out.precision(9);
        out << "C(" << i << ", " << j << ") is ";
        if (std::isnan(found))
          out << "NaN";
        else
          out << found;
        out << ", not " << expected;
        first = out.str();
      }
    }
  }
  if (wrong == 0) return {};
  std::ostringstream out;
  out << first << "; " << wrong << " of " << task_.m * task_.n << " elements of C are wrong";
  return out.str();
}

std::string Product::compare() const { return task_.f64 ? compare_as<double>() : compare_as<float>(); }

} // namespace tessera::lens
