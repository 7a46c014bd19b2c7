/// A library with functions of cuSOLVER and of cuBLAS, in plain loops, for a device whose memory is the host's: lower
/// triangles, and systems without transposes, by columns. It has no QR factors in double precision. DEVICE_SOLVER lets
/// it fail: `wrong` leaves out a term of Cholesky's factors, `pivots` names rows that there are not, `info` says that
/// the second minor is not positive, `status` returns 7, `handle` makes none, and `idle` takes 100 ms for a product and
/// does nothing.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace {

enum Status { success = 0, not_initialized = 1, invalid_value = 3, internal_error = 7 };

/// The queue of the tests' device has this for a stream.
constexpr std::intptr_t stream_of_device = 5000;

struct Handle {
  void* stream = nullptr;
};

bool fails(std::string_view word) {
  const char* const fault = std::getenv("DEVICE_SOLVER");
  return fault != nullptr && fault == word;
}

Status make(void** handle) {
  if (fails("handle")) return not_initialized;
  *handle = new Handle;
  return success;
}

Status end(void* handle) {
  delete static_cast<Handle*>(handle);
  return success;
}

Status set_stream(void* handle, void* stream) {
  if (reinterpret_cast<std::intptr_t>(stream) != stream_of_device) return invalid_value;
  static_cast<Handle*>(handle)->stream = stream;
  return success;
}

/// What a function returns that does nothing else.
Status state_of(void* handle) {
  if (static_cast<Handle*>(handle)->stream == nullptr) return not_initialized;
  return fails("status") ? internal_error : success;
}

/// Columns.
template <class T>
struct Matrix {
  T* data;
  int ld;
  T& operator()(int i, int j) const { return data[static_cast<std::size_t>(j) * static_cast<std::size_t>(ld) + i]; }
};

int memory_for(int n) { return 3 * n + 1; }

/// Working memory may hold anything.
template <class T>
void use(T* memory, int count) {
  std::fill_n(memory, count, T(-1));
}

template <class T>
Status cholesky(void* handle, int uplo, int n, T* data, int ld, T* memory, int count, int* info) {
  if (uplo != 0 || count != memory_for(n)) return invalid_value;
  use(memory, count);
  const Matrix<T> a{data, ld};
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T sum = a(i, j);
      for (int k = fails("wrong") ? 1 : 0; k < j; ++k) sum -= a(i, k) * a(j, k);
      a(i, j) = i == j ? std::sqrt(sum) : sum / a(j, j);
    }
  *info = fails("info") ? 2 : 0;
  return state_of(handle);
}

template <class T>
Status lu(void* handle, int n, T* data, int ld, T* memory, int* pivots, int* info) {
  use(memory, memory_for(n));
  const Matrix<T> a{data, ld};
  for (int j = 0; j < n; ++j) {
    int pivot = j;
    for (int i = j + 1; i < n; ++i)
      if (std::abs(a(i, j)) > std::abs(a(pivot, j))) pivot = i;
    pivots[j] = pivot + 1 + (fails("pivots") ? n : 0);
    for (int k = 0; k < n && pivot != j; ++k) std::swap(a(j, k), a(pivot, k));
    for (int i = j + 1; i < n; ++i) {
      a(i, j) /= a(j, j);
      for (int k = j + 1; k < n; ++k) a(i, k) -= a(i, j) * a(j, k);
    }
  }
  *info = 0;
  return state_of(handle);
}

/// Householder's reflections, each as 1 − tau·v·vᵀ.
template <class T>
Status qr(void* handle, int n, T* data, int ld, T* tau, T* memory, int count, int* info) {
  if (count != memory_for(n)) return invalid_value;
  use(memory, count);
  const Matrix<T> a{data, ld};
  for (int k = 0; k < n; ++k) {
    tau[k] = 0;
    T squares = 0;
    for (int i = k + 1; i < n; ++i) squares += a(i, k) * a(i, k);
    if (squares == 0) continue;
    const T first = a(k, k), norm = std::sqrt(first * first + squares), beta = first > 0 ? -norm : norm;
    tau[k] = (beta - first) / beta;
    for (int i = k + 1; i < n; ++i) a(i, k) /= first - beta;
    a(k, k) = beta;
    for (int j = k + 1; j < n; ++j) {
      T sum = a(k, j);
      for (int i = k + 1; i < n; ++i) sum += a(i, k) * a(i, j);
      a(k, j) -= tau[k] * sum;
      for (int i = k + 1; i < n; ++i) a(i, j) -= tau[k] * sum * a(i, k);
    }
  }
  *info = 0;
  return state_of(handle);
}

/// L·X = B.
template <class T>
void solve_lower(int n, int count, Matrix<const T> l, bool has_unit_diagonal, Matrix<T> x) {
  for (int col = 0; col < count; ++col)
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < i; ++k) x(i, col) -= l(i, k) * x(k, col);
      if (!has_unit_diagonal) x(i, col) /= l(i, i);
    }
}

/// U·X = B, or Lᵀ·X = B where the matrix is turned.
template <class T>
void solve_upper(int n, int count, Matrix<const T> u, bool is_turned, Matrix<T> x) {
  for (int col = 0; col < count; ++col)
    for (int i = n - 1; i >= 0; --i) {
      for (int k = i + 1; k < n; ++k) x(i, col) -= (is_turned ? u(k, i) : u(i, k)) * x(k, col);
      x(i, col) /= u(i, i);
    }
}

template <class T>
Status solve_positive(void* handle, int uplo, int n, int count, const T* l, int ldl, T* b, int ldb, int* info) {
  if (uplo != 0) return invalid_value;
  solve_lower<T>(n, count, {l, ldl}, false, {b, ldb});
  solve_upper<T>(n, count, {l, ldl}, true, {b, ldb});
  *info = 0;
  return state_of(handle);
}

template <class T>
Status solve_by_lu(void* handle, int op, int n, int count, const T* lu, int ldl, const int* pivots, T* b, int ldb,
                   int* info) {
  if (op != 0) return invalid_value;
  const Matrix<T> x{b, ldb};
  for (int j = 0; j < n; ++j)
    for (int col = 0; col < count; ++col) std::swap(x(j, col), x(pivots[j] - 1, col));
  solve_lower<T>(n, count, {lu, ldl}, true, x);
  solve_upper<T>(n, count, {lu, ldl}, false, x);
  *info = 0;
  return state_of(handle);
}

/// C = Aᵀ·A, the lower triangle.
template <class T>
Status symmetric(void* handle, int uplo, int op, int n, int k, const T* alpha, const T* data, int lda, const T* beta,
                 T* result, int ldc) {
  if (uplo != 0 || op != 1 || *alpha != 1 || *beta != 0) return invalid_value;
  if (fails("idle")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    return success;
  }
  const Matrix<const T> a{data, lda};
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T sum = 0;
      for (int p = 0; p < k; ++p) sum += a(p, i) * a(p, j);
      Matrix<T>{result, ldc}(i, j) = sum;
    }
  return state_of(handle);
}

template <class T>
Status triangular(void* handle, int side, int uplo, int op, int diagonal, int m, int n, const T* alpha, const T* l,
                  int ldl, T* b, int ldb) {
  if (side != 0 || uplo != 0 || op != 0 || diagonal != 0 || *alpha != 1) return invalid_value;
  solve_lower<T>(m, n, {l, ldl}, false, {b, ldb});
  return state_of(handle);
}

} // namespace

#define FUNCTIONS(X, T)                                                                                               \
  int cusolverDn##X##potrf_bufferSize(void* h, int, int n, T*, int, int* count) {                                     \
    *count = memory_for(n);                                                                                           \
    return state_of(h);                                                                                               \
  }                                                                                                                   \
  int cusolverDn##X##getrf_bufferSize(void* h, int, int n, T*, int, int* count) {                                     \
    *count = memory_for(n);                                                                                           \
    return state_of(h);                                                                                               \
  }                                                                                                                   \
  int cusolverDn##X##potrf(void* h, int uplo, int n, T* a, int lda, T* memory, int count, int* info) {                \
    return cholesky(h, uplo, n, a, lda, memory, count, info);                                                         \
  }                                                                                                                   \
  int cusolverDn##X##potrs(void* h, int uplo, int n, int count, const T* a, int lda, T* b, int ldb, int* info) {      \
    return solve_positive(h, uplo, n, count, a, lda, b, ldb, info);                                                   \
  }                                                                                                                   \
  int cusolverDn##X##getrf(void* h, int, int n, T* a, int lda, T* memory, int* pivots, int* info) {                   \
    return lu(h, n, a, lda, memory, pivots, info);                                                                    \
  }                                                                                                                   \
  int cusolverDn##X##getrs(void* h, int op, int n, int count, const T* a, int lda, const int* pivots, T* b, int ldb,  \
                           int* info) {                                                                               \
    return solve_by_lu(h, op, n, count, a, lda, pivots, b, ldb, info);                                                \
  }                                                                                                                   \
  int cublas##X##syrk_v2(void* h, int uplo, int op, int n, int k, const T* alpha, const T* a, int lda, const T* beta, \
                         T* c, int ldc) {                                                                             \
    return symmetric(h, uplo, op, n, k, alpha, a, lda, beta, c, ldc);                                                 \
  }                                                                                                                   \
  int cublas##X##trsm_v2(void* h, int side, int uplo, int op, int diagonal, int m, int n, const T* alpha, const T* a, \
                         int lda, T* b, int ldb) {                                                                    \
    return triangular(h, side, uplo, op, diagonal, m, n, alpha, a, lda, b, ldb);                                      \
  }

extern "C" {
FUNCTIONS(S, float)
FUNCTIONS(D, double)
int cusolverDnSgeqrf_bufferSize(void* h, int, int n, float*, int, int* count) {
  *count = memory_for(n);
  return state_of(h);
}
int cusolverDnSgeqrf(void* h, int, int n, float* a, int lda, float* tau, float* memory, int count, int* info) {
  return qr(h, n, a, lda, tau, memory, count, info);
}
int cusolverDnCreate(void** handle) { return make(handle); }
int cusolverDnDestroy(void* handle) { return end(handle); }
int cusolverDnSetStream(void* handle, void* stream) { return set_stream(handle, stream); }
int cublasCreate_v2(void** handle) { return make(handle); }
int cublasDestroy_v2(void* handle) { return end(handle); }
int cublasSetStream_v2(void* handle, void* stream) { return set_stream(handle, stream); }
}
