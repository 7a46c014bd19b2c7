/// The BLAS's level 3 on matrices in an executor's memory, for the C interface.

#include <complex>

#include <tessera/linear_algebra/executor_level3.hpp>

#include "c_api_linear_algebra.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// Calls work(executor, T()) for the type of real numbers.
template <class Work>
tessera_status run_real(tessera_executor* executor, tessera_dtype type, const Work& work) {
  return guarded([&] {
    Executor& target = executor_of(executor);
    linear_algebra_type(type) == DType::F32 ? work(target, float()) : work(target, double());
  });
}
/// Calls it for complex numbers of the type.
template <class Work>
tessera_status run_complex(tessera_executor* executor, tessera_dtype type, const Work& work) {
  return guarded([&] {
    Executor& target = executor_of(executor);
    linear_algebra_type(type) == DType::F32 ? work(target, std::complex<float>())
                                            : work(target, std::complex<double>());
  });
}

template <class T>
T real_factor(double value) {
  return static_cast<T>(as_scalar(value, dtype_of<T>));
}
template <class T>
T complex_factor(const void* address, const char* what) {
  if (address == nullptr) throw InvalidArgument(std::string(what) + " is null; pass the address of a complex number");
  return *static_cast<const T*>(address);
}

Side side_of(tessera_side side) { return checked(side, Side::Right, "side"); }
Diagonal diagonal_of(tessera_diagonal diagonal) { return checked(diagonal, Diagonal::Unit, "diagonal"); }
Op complex_op(tessera_op op) { return checked(op, Op::ConjugateTranspose, "op"); }

} // namespace

tessera_status tessera_executor_trsm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                     tessera_triangle triangle, tessera_op op, tessera_diagonal diagonal, int64_t m,
                                     int64_t n, double alpha, const void* t, int64_t ldt, void* b, int64_t ldb) {
  return run_real(executor, type, [&]<class T>(Executor& target, T) {
    trsm(target, side_of(side), triangle_of(triangle), checked(op, "op"), diagonal_of(diagonal), m, n,
         real_factor<T>(alpha), static_cast<const T*>(t), ldt, static_cast<T*>(b), ldb);
  });
}
tessera_status tessera_executor_trsm_complex(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                             tessera_triangle triangle, tessera_op op, tessera_diagonal diagonal,
                                             int64_t m, int64_t n, const void* alpha, const void* t, int64_t ldt,
                                             void* b, int64_t ldb) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    trsm(target, side_of(side), triangle_of(triangle), complex_op(op), diagonal_of(diagonal), m, n,
         complex_factor<T>(alpha, "alpha"), static_cast<const T*>(t), ldt, static_cast<T*>(b), ldb);
  });
}

tessera_status tessera_executor_trmm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                     tessera_triangle triangle, tessera_op op, tessera_diagonal diagonal, int64_t m,
                                     int64_t n, double alpha, const void* t, int64_t ldt, void* b, int64_t ldb) {
  return run_real(executor, type, [&]<class T>(Executor& target, T) {
    trmm(target, side_of(side), triangle_of(triangle), checked(op, "op"), diagonal_of(diagonal), m, n,
         real_factor<T>(alpha), static_cast<const T*>(t), ldt, static_cast<T*>(b), ldb);
  });
}
tessera_status tessera_executor_trmm_complex(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                             tessera_triangle triangle, tessera_op op, tessera_diagonal diagonal,
                                             int64_t m, int64_t n, const void* alpha, const void* t, int64_t ldt,
                                             void* b, int64_t ldb) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    trmm(target, side_of(side), triangle_of(triangle), complex_op(op), diagonal_of(diagonal), m, n,
         complex_factor<T>(alpha, "alpha"), static_cast<const T*>(t), ldt, static_cast<T*>(b), ldb);
  });
}

tessera_status tessera_executor_symm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                     tessera_triangle triangle, int64_t m, int64_t n, double alpha, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, double beta, void* c, int64_t ldc) {
  return run_real(executor, type, [&]<class T>(Executor& target, T) {
    symm(target, side_of(side), triangle_of(triangle), m, n, real_factor<T>(alpha), static_cast<const T*>(a), lda,
         static_cast<const T*>(b), ldb, real_factor<T>(beta), static_cast<T*>(c), ldc);
  });
}
tessera_status tessera_executor_symm_complex(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                             tessera_triangle triangle, int64_t m, int64_t n, const void* alpha,
                                             const void* a, int64_t lda, const void* b, int64_t ldb, const void* beta,
                                             void* c, int64_t ldc) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    symm(target, side_of(side), triangle_of(triangle), m, n, complex_factor<T>(alpha, "alpha"),
         static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, complex_factor<T>(beta, "beta"),
         static_cast<T*>(c), ldc);
  });
}
tessera_status tessera_executor_hemm(tessera_executor* executor, tessera_dtype type, tessera_side side,
                                     tessera_triangle triangle, int64_t m, int64_t n, const void* alpha, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, const void* beta, void* c, int64_t ldc) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    hemm(target, side_of(side), triangle_of(triangle), m, n, complex_factor<T>(alpha, "alpha"),
         static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, complex_factor<T>(beta, "beta"),
         static_cast<T*>(c), ldc);
  });
}

tessera_status tessera_executor_syrk(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                     tessera_op op, int64_t n, int64_t k, double alpha, const void* a, int64_t lda,
                                     double beta, void* c, int64_t ldc) {
  return run_real(executor, type, [&]<class T>(Executor& target, T) {
    syrk(target, triangle_of(triangle), checked(op, "op"), n, k, real_factor<T>(alpha), static_cast<const T*>(a), lda,
         real_factor<T>(beta), static_cast<T*>(c), ldc);
  });
}
tessera_status tessera_executor_syrk_complex(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                             tessera_op op, int64_t n, int64_t k, const void* alpha, const void* a,
                                             int64_t lda, const void* beta, void* c, int64_t ldc) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    syrk(target, triangle_of(triangle), complex_op(op), n, k, complex_factor<T>(alpha, "alpha"),
         static_cast<const T*>(a), lda, complex_factor<T>(beta, "beta"), static_cast<T*>(c), ldc);
  });
}
tessera_status tessera_executor_herk(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                     tessera_op op, int64_t n, int64_t k, double alpha, const void* a, int64_t lda,
                                     double beta, void* c, int64_t ldc) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    using Part = typename T::value_type;
    herk(target, triangle_of(triangle), complex_op(op), n, k, real_factor<Part>(alpha), static_cast<const T*>(a), lda,
         real_factor<Part>(beta), static_cast<T*>(c), ldc);
  });
}

tessera_status tessera_executor_syr2k(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                      tessera_op op, int64_t n, int64_t k, double alpha, const void* a, int64_t lda,
                                      const void* b, int64_t ldb, double beta, void* c, int64_t ldc) {
  return run_real(executor, type, [&]<class T>(Executor& target, T) {
    syr2k(target, triangle_of(triangle), checked(op, "op"), n, k, real_factor<T>(alpha), static_cast<const T*>(a), lda,
          static_cast<const T*>(b), ldb, real_factor<T>(beta), static_cast<T*>(c), ldc);
  });
}
tessera_status tessera_executor_syr2k_complex(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                              tessera_op op, int64_t n, int64_t k, const void* alpha, const void* a,
                                              int64_t lda, const void* b, int64_t ldb, const void* beta, void* c,
                                              int64_t ldc) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    syr2k(target, triangle_of(triangle), complex_op(op), n, k, complex_factor<T>(alpha, "alpha"),
          static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, complex_factor<T>(beta, "beta"),
          static_cast<T*>(c), ldc);
  });
}
tessera_status tessera_executor_her2k(tessera_executor* executor, tessera_dtype type, tessera_triangle triangle,
                                      tessera_op op, int64_t n, int64_t k, const void* alpha, const void* a,
                                      int64_t lda, const void* b, int64_t ldb, double beta, void* c, int64_t ldc) {
  return run_complex(executor, type, [&]<class T>(Executor& target, T) {
    using Part = typename T::value_type;
    her2k(target, triangle_of(triangle), complex_op(op), n, k, complex_factor<T>(alpha, "alpha"),
          static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, real_factor<Part>(beta), static_cast<T*>(c),
          ldc);
  });
}
