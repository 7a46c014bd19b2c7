/// Reads the input as the arguments of a product in the C interface. A product whose arguments are right is computed
/// and compared with sums of whole numbers; one with a wrong argument must be refused and leave C alone. Operands have
/// just the bytes that their sizes say, so that AddressSanitizer notices every access beside them.

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include <tessera/tessera.h>

#include "target.hpp"

namespace {

using tessera::fuzz::require;

/// Takes numbers from the input; zeros once it is used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  int byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  /// Returns a size: mostly a small one, else one near a limit.
  std::int64_t size() {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const int chosen = byte();
    if (chosen < 224) return chosen % 20;
    switch (chosen - 224) {
      case 0:
        return -1;
      case 1:
        return most;
      case 2:
        return most / 2 + byte() - 128;
      case 3:
        return -most - 1;
      case 4:
        return most / (1 + byte());
      case 5:
        return std::int64_t{1} << byte() % 63;
      case 6:
        return -(std::int64_t{1} << byte() % 63);
      default:
        return byte();
    }
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

struct FuzzedCall {
  int op_a, op_b;
  std::int64_t m, n, k, lda, ldb, ldc;
  int alpha, beta;
  int backend, threads;
  bool null_a, null_b, null_c;
};

struct Stored {
  std::int64_t rows, cols, ld;

  /// Do its elements fit into a small buffer?
  bool small() const { return rows <= 64 && ld <= 512; }
  bool has_elements() const { return rows > 0 && cols > 0; }
  std::size_t elements() const { return has_elements() ? static_cast<std::size_t>((rows - 1) * ld + cols) : 0; }
  /// Is it an operand with elements of `bytes` bytes, by the rules of gemm.hpp?
  bool right(bool null, std::size_t bytes) const {
    if (rows < 0 || cols < 0 || ld < 1 || ld < cols || (null && has_elements())) return false;
    return rows == 0 || ld <= std::numeric_limits<std::ptrdiff_t>::max() / static_cast<std::int64_t>(bytes) / rows;
  }
};

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, typename RealPart<T>::type>;

template <class T>
T whole(std::size_t i, int seed) {
  const auto number = [&](std::size_t j) {
    return static_cast<typename RealPart<T>::type>(static_cast<int>((j * 7 + static_cast<std::size_t>(seed)) % 9) - 4);
  };
  if constexpr (is_complex<T>)
    return {number(i), number(i + 5)};
  else
    return number(i);
}

template <class T>
std::vector<T> filled(const Stored& x, int seed) {
  std::vector<T> elements(x.elements());
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = whole<T>(i, seed);
  return elements;
}

template <class T>
T element(const std::vector<T>& x, const Stored& shape, int op, std::int64_t i, std::int64_t j) {
  const T value = x[static_cast<std::size_t>(op == 0 ? i * shape.ld + j : j * shape.ld + i)];
  if constexpr (is_complex<T>)
    return op == 2 ? std::conj(value) : value;
  else
    return value;
}

template <class T>
tessera_status multiply_through_c(const FuzzedCall& x, const T& alpha, const T* a, const T* b, const T& beta, T* c) {
  tessera_options options = tessera_default_options();
  options.backend = static_cast<tessera_backend>(x.backend);
  options.threads = x.threads;
  const auto op_a = static_cast<tessera_op>(x.op_a), op_b = static_cast<tessera_op>(x.op_b);
  const auto call = [&](auto function, auto al, auto be) {
    return function(op_a, op_b, x.m, x.n, x.k, al, a, x.lda, b, x.ldb, be, c, x.ldc, &options);
  };
  if constexpr (std::is_same_v<T, float>) return call(tessera_gemm_f32, alpha, beta);
  if constexpr (std::is_same_v<T, double>) return call(tessera_gemm_f64, alpha, beta);
  if constexpr (std::is_same_v<T, std::complex<float>>) return call(tessera_gemm_complex_f32, &alpha, &beta);
  if constexpr (std::is_same_v<T, std::complex<double>>) return call(tessera_gemm_complex_f64, &alpha, &beta);
}

template <class T>
void check_product(const FuzzedCall& x, const Stored& a, const Stored& b, const Stored& c, const std::vector<T>& of_a,
                   const std::vector<T>& of_b, const std::vector<T>& old, const std::vector<T>& got, T alpha, T beta) {
  std::vector<T> expected = old;
  for (std::int64_t i = 0; i < x.m; ++i)
    for (std::int64_t j = 0; j < x.n; ++j) {
      T sum{};
      for (std::int64_t p = 0; p < x.k && alpha != T{}; ++p)
        sum += element(of_a, a, x.op_a, i, p) * element(of_b, b, x.op_b, p, j);
      T& to = expected[static_cast<std::size_t>(i * c.ld + j)];
      to = alpha * sum + beta * to;
    }
  for (std::size_t i = 0; i < expected.size(); ++i) require(got[i] == expected[i], "a product is wrong");
}

template <class T>
void try_product(const FuzzedCall& x) {
  const Stored a{x.op_a == 0 ? x.m : x.k, x.op_a == 0 ? x.k : x.m, x.lda};
  const Stored b{x.op_b == 0 ? x.k : x.n, x.op_b == 0 ? x.n : x.k, x.ldb};
  const Stored c{x.m, x.n, x.ldc};
  const int last_op = is_complex<T> ? 2 : 1;
  const bool right = x.op_a >= 0 && x.op_a <= last_op && x.op_b >= 0 && x.op_b <= last_op && x.m >= 0 && x.n >= 0 &&
                     x.k >= 0 && a.right(x.null_a, sizeof(T)) && b.right(x.null_b, sizeof(T)) &&
                     c.right(x.null_c, sizeof(T)) && x.backend >= 0 && x.backend <= 1 && x.threads >= 0;
  const bool small = a.small() && b.small() && c.small();
  const bool reads = a.has_elements() || b.has_elements() || c.has_elements();
  if (right && reads && !small) return; // it would be computed, and take memory and time
  const Stored none{0, 0, 1};
  const std::vector<T> of_a = filled<T>(right ? a : none, 1), of_b = filled<T>(right ? b : none, 2);
  std::vector<T> of_c = filled<T>(right ? c : Stored{1, 1, 1}, 3);
  const std::vector<T> old = of_c;
  T dummy{};
  const auto address = [&](const std::vector<T>& elements, bool null) {
    return null ? nullptr : elements.empty() ? &dummy : elements.data();
  };
  const T alpha(static_cast<typename RealPart<T>::type>(x.alpha)), beta = whole<T>(static_cast<std::size_t>(x.beta), 4);
  const tessera_status status = multiply_through_c(x, alpha, address(of_a, x.null_a), address(of_b, x.null_b), beta,
                                                   x.null_c       ? nullptr
                                                   : of_c.empty() ? &dummy
                                                                  : of_c.data());
  require((status == TESSERA_OK) == right, right ? std::string("a right product is refused: ") + tessera_last_error()
                                                 : "a wrong argument is not refused");
  if (right) return check_product(x, a, b, c, of_a, of_b, old, of_c, alpha, beta);
  require(of_c == old, "a refused product has changed C");
  require(status == TESSERA_INVALID_ARGUMENT && *tessera_last_error() != '\0', "a refusal without a reason");
}

} // namespace

TESSERA_FUZZ_TARGET(gemm) {
  Bytes in(data, size);
  const int kind = in.byte(), flags = in.byte();
  const auto op = [&] {
    const int byte = in.byte();
    return byte == 255 ? -1 : byte % 4;
  };
  FuzzedCall x{};
  x.op_a = op();
  x.op_b = op();
  x.m = in.size();
  x.n = in.size();
  x.k = in.size();
  x.alpha = in.byte() % 5 - 2;
  x.beta = in.byte();
  const bool wide = (flags & 8) != 0; // leading dimensions of any size, else ones that fit
  const auto ld = [&](std::int64_t cols) { return wide || cols < 0 || cols > 1000 ? in.size() : cols + in.byte() % 4; };
  x.lda = ld(x.op_a == 0 ? x.k : x.m);
  x.ldb = ld(x.op_b == 0 ? x.n : x.k);
  x.ldc = ld(x.n);
  x.null_a = (flags & 0x31) == 0x31;
  x.null_b = (flags & 0x32) == 0x32;
  x.null_c = (flags & 0x34) == 0x34;
  x.backend = in.byte() % 16 == 15 ? in.byte() - 128 : in.byte() % 2;
  if (x.backend > 1 && x.backend < 64) x.backend %= 2; // Auto and Reference are in every build, the others are not
  x.threads = in.byte() == 255 ? -1 : in.byte() % 4;
  switch (kind % 4) {
    case 0:
      return try_product<float>(x);
    case 1:
      return try_product<double>(x);
    case 2:
      return try_product<std::complex<float>>(x);
    default:
      return try_product<std::complex<double>>(x);
  }
}
