#pragma once

/// Matrices in files for products of files, and the products in memory to compare with.

#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/gemm.hpp>
#include <tessera/interop/io.hpp>

#include "support/files.hpp"

namespace tessera::test {

/// Writes a matrix, without Tessera's own writer, in either order.
template <class T>
void write_matrix(const Folder& folder, const std::string& name, const Matrix<T>& x, bool fortran_order = false) {
  std::vector<T> elements;
  elements.reserve(static_cast<std::size_t>(x.rows() * x.cols()));
  const Index outer = fortran_order ? x.cols() : x.rows(), inner = fortran_order ? x.rows() : x.cols();
  for (Index i = 0; i < outer; ++i)
    for (Index j = 0; j < inner; ++j) elements.push_back(fortran_order ? x(j, i) : x(i, j));
  folder.write(name, npy_bytes("<" + std::string(element_type(dtype_of<T>).npy), fortran_order,
                               "(" + std::to_string(x.rows()) + ", " + std::to_string(x.cols()) + ")", elements));
}

/// Returns how many elements of a file have other bits than the matrix.
template <class T>
Index differing_bits(const std::filesystem::path& path, const Matrix<T>& expected) {
  const auto got = load_npy<T>(path);
  if (got.rows() != expected.rows() || got.cols() != expected.cols()) return -1;
  Index count = 0;
  for (Index i = 0; i < got.rows(); ++i)
    for (Index j = 0; j < got.cols(); ++j) {
      const T x = got(i, j), y = expected(i, j);
      const bool both_nan = static_cast<Scalar<T>>(x) != static_cast<Scalar<T>>(x) &&
                            static_cast<Scalar<T>>(y) != static_cast<Scalar<T>>(y);
      if (!both_nan && std::memcmp(&x, &y, sizeof x) != 0) ++count;
    }
  return count;
}

/// A product of random matrices in files.
template <class T, class R = T>
struct Operands {
  Folder folder;
  Matrix<T> a, b;
  Matrix<R> c, expected;
  FileProduct product;

  /// Writes the files and computes what is expected. flags: bits 0 and 1 are the transposes, bits 2 to 4 the Fortran
  /// orders of a, b and c.
  Operands(Index m, Index n, Index k, double alpha, double beta, unsigned flags, std::uint64_t seed = 1) {
    const bool flip_a = (flags & 1) != 0, flip_b = (flags & 2) != 0;
    a = flip_a ? Matrix<T>::random(k, m, Seed{seed}) : Matrix<T>::random(m, k, Seed{seed});
    b = flip_b ? Matrix<T>::random(n, k, Seed{seed + 1}) : Matrix<T>::random(k, n, Seed{seed + 1});
    c = Matrix<R>::random(m, n, Seed{seed + 2});
    write_matrix(folder, "a.npy", a, (flags & 4) != 0);
    write_matrix(folder, "b.npy", b, (flags & 8) != 0);
    if (beta != 0) write_matrix(folder, "c0.npy", c, (flags & 16) != 0);
    expected = c;
    const auto x = static_cast<Scalar<T>>(alpha), y = static_cast<Scalar<T>>(beta);
    const auto va = flip_a ? a.transposed() : a.view(), vb = flip_b ? b.transposed() : b.view();
    gemm(x, va, vb, y, expected, GemmOptions{});
    product = {.a = folder.path() / "a.npy",
               .b = folder.path() / "b.npy",
               .out = folder.path() / "c.npy",
               .memory_limit = std::size_t{64} << 20,
               .op_a = flip_a ? Op::Transpose : Op::None,
               .op_b = flip_b ? Op::Transpose : Op::None,
               .alpha = alpha,
               .beta = beta};
    if (beta != 0) product.c = folder.path() / "c0.npy";
    if constexpr (!std::is_same_v<T, R>) product.result = dtype_of<R>;
  }

  Index differing() const { return differing_bits(product.out, expected); }
  /// Returns the smallest limit that is not refused.
  std::size_t least_limit() const {
    FileProduct tiny = product;
    tiny.memory_limit = 1;
    try {
      static_cast<void>(plan_files(tiny));
    } catch (const OutOfMemory& error) {
      const std::string text = error.what(), before = "would do is ";
      return std::stoull(text.substr(text.find(before) + before.size()));
    }
    return 1;
  }
  std::vector<std::string> names() const { return folder.names(); }
};

} // namespace tessera::test
