/// Stands in for cuBLASMp, NCCL and cuBLASXt, for one rank whose device's memory is the host's. It is column-major, as
/// they are, and adds in an order of its own: from the last k to the first.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

/// A matrix as a descriptor says it lies on the one rank.
struct Matrix {
  std::int64_t rows, cols, ld;
  int type;
};

struct Id {
  char bytes[128];
};

constexpr int success = 0, invalid_value = 3, compute_f64 = 70;

template <class T>
void multiply(bool left_transposed, bool right_transposed, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
              const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) {
      T sum = 0;
      for (std::int64_t p = k; p-- > 0;)
        sum +=
            (left_transposed ? a[p + i * lda] : a[i + p * lda]) * (right_transposed ? b[j + p * ldb] : b[p + j * ldb]);
      c[i + j * ldc] = beta == 0 ? alpha * sum : alpha * sum + beta * c[i + j * ldc];
    }
}

} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE ncclGetUniqueId(Id* id) {
  std::memset(id, 7, sizeof *id);
  return success;
}
FAKE ncclCommInitRank(void** comm, int ranks, Id id, int rank) {
  static int one;
  *comm = &one;
  return ranks == 1 && rank == 0 && id.bytes[127] == 7 ? success : invalid_value;
}
FAKE ncclCommDestroy(void*) { return success; }

FAKE cublasMpCreate(void** handle, void* stream) {
  static int one;
  *handle = &one;
  return stream != nullptr ? success : invalid_value;
}
FAKE cublasMpDestroy(void*) { return success; }
FAKE cublasMpGridCreate(std::int64_t rows, std::int64_t cols, int, void* comm, void** grid) {
  *grid = comm;
  return rows == 1 && cols == 1 ? success : invalid_value;
}
FAKE cublasMpGridDestroy(void*) { return success; }
FAKE cublasMpMatrixDescriptorCreate(std::int64_t m, std::int64_t n, std::int64_t mb, std::int64_t nb, std::int64_t,
                                    std::int64_t, std::int64_t ld, int type, void*, void** matrix) {
  if (m < 1 || n < 1 || mb < 1 || nb < 1 || ld < m) return invalid_value;
  *matrix = new Matrix{m, n, ld, type};
  return success;
}
FAKE cublasMpMatrixDescriptorDestroy(void* matrix) {
  delete static_cast<Matrix*>(matrix);
  return success;
}
FAKE cublasMpGemm_bufferSize(void*, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*,
                             std::int64_t, std::int64_t, void*, const void*, std::int64_t, std::int64_t, void*,
                             const void*, void*, std::int64_t, std::int64_t, void*, int, std::size_t* device_bytes,
                             std::size_t* host_bytes) {
  *device_bytes = 100;
  *host_bytes = 10;
  return success;
}
FAKE cublasMpGemm(void*, int op_a, int op_b, std::int64_t m, std::int64_t n, std::int64_t k, const void* alpha,
                  const void* a, std::int64_t ia, std::int64_t ja, void* descriptor_a, const void* b, std::int64_t ib,
                  std::int64_t jb, void* descriptor_b, const void* beta, void* c, std::int64_t ic, std::int64_t jc,
                  void* descriptor_c, int compute, void*, std::size_t device_bytes, void*, std::size_t host_bytes) {
  const auto& x = *static_cast<Matrix*>(descriptor_a);
  const auto& y = *static_cast<Matrix*>(descriptor_b);
  const auto& z = *static_cast<Matrix*>(descriptor_c);
  const bool fits = (op_a != 0 ? x.cols : x.rows) == m && (op_a != 0 ? x.rows : x.cols) == k &&
                    (op_b != 0 ? y.cols : y.rows) == k && (op_b != 0 ? y.rows : y.cols) == n && z.rows == m &&
                    z.cols == n && x.type == y.type && x.type == z.type;
  if (!fits || ia * ja * ib * jb * ic * jc != 1 || device_bytes != 100 || host_bytes != 10) return invalid_value;
  const auto run = [&]<class T>(T) {
    multiply<T>(op_a != 0, op_b != 0, m, n, k, *static_cast<const T*>(alpha), static_cast<const T*>(a), x.ld,
                static_cast<const T*>(b), y.ld, *static_cast<const T*>(beta), static_cast<T*>(c), z.ld);
  };
  compute == compute_f64 ? run(double{}) : run(float{});
  return success;
}

FAKE cublasXtCreate(void** handle) {
  static int one;
  *handle = &one;
  return success;
}
FAKE cublasXtDestroy(void*) { return success; }
FAKE cublasXtDeviceSelect(void*, int count, int* devices) {
  return count == 1 && devices[0] == 1 ? success : invalid_value;
}

#define FAKE_PRODUCT(name, T)                                                                                       \
  FAKE name(void*, int op_a, int op_b, std::size_t m, std::size_t n, std::size_t k, const T* alpha, const T* a,     \
            std::size_t lda, const T* b, std::size_t ldb, const T* beta, T* c, std::size_t ldc) {                   \
    const auto index = [](std::size_t x) { return static_cast<std::int64_t>(x); };                                  \
    multiply<T>(op_a != 0, op_b != 0, index(m), index(n), index(k), *alpha, a, index(lda), b, index(ldb), *beta, c, \
                index(ldc));                                                                                        \
    return success;                                                                                                 \
  }
FAKE_PRODUCT(cublasXtSgemm, float)
FAKE_PRODUCT(cublasXtDgemm, double)
