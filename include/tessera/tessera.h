#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

/** @file
 * Tessera for C (C99 and later), and for every language that can call C.
 *
 *     float a[4] = {1, 2, 3, 4}, c[4];
 *     if (tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, NULL) != TESSERA_OK)
 *       puts(tessera_last_error());
 *
 * Matrices are row-major rectangles of the caller's memory; leading dimensions count elements between stored rows. For
 * column-major matrices swap A with B and m with n. docs/contract.md states the numerical contract.
 *
 * Functions return a status, and TESSERA_OK is 0. tessera_last_error() returns the text of this thread's last failure.
 * After any failure except TESSERA_DEVICE_ERROR, C is unchanged. No C++ exception leaves a function. All functions may
 * be called from several threads at once. Each executor has one queue: its products and copies are done in order.
 */

#include <stddef.h>
#include <stdint.h>

#include <tessera/detail/element_types.h>

/** Marks the functions that the library exports. */
#if defined(TESSERA_BUILDING_LIBRARY)
#define TESSERA_C_API __attribute__((visibility("default")))
#else
#define TESSERA_C_API
#endif

/** Gives an enumeration the type int in C++, so that it holds any integer there, as it does in C. */
#ifdef __cplusplus
#define TESSERA_INT : int
extern "C" {
#else
#define TESSERA_INT
#endif

/** The outcome of a call. tessera_last_error() has the text of a failure. */
typedef enum tessera_status TESSERA_INT {
  TESSERA_OK = 0,               /**< the call did what it was asked for */
  TESSERA_INVALID_ARGUMENT = 1, /**< shapes, leading dimensions, aliasing, null */
  TESSERA_REJECTED = 2,         /**< a kernel that was named, or every kernel, does not take this product */
  TESSERA_UNAVAILABLE = 3,      /**< a backend that cannot be used on this machine */
  TESSERA_OUT_OF_MEMORY = 4,    /**< host or device memory is short; all that the call allocated is freed */
  TESSERA_DEVICE_ERROR = 5,     /**< a device or its driver failed; C is undefined */
  TESSERA_IO_ERROR = 6,         /**< a file is missing, malformed or cannot be written */
  TESSERA_INTERNAL = 7,         /**< a bug in Tessera or in a plug-in */
  TESSERA_DATA_CORRUPTION = 8   /**< a verified product is wrong; C is undefined */
} tessera_status;

/** Types of elements of matrices: TESSERA_F32, TESSERA_F64, TESSERA_FLOAT16, TESSERA_BFLOAT16, and what else the list
 * of detail/element_types.h has; TESSERA_FP16 and TESSERA_BF16 are modes. 16-bit elements are uint16_t to C, with the
 * bits of half.hpp. */
typedef enum tessera_dtype TESSERA_INT {
  TESSERA_AS_OPERANDS = -1, /**< as the type of a result: the type of the operands */
  TESSERA_MATRIX_TYPES(TESSERA_AS_C_TYPE)
} tessera_dtype;

/** How an operand is read. */
typedef enum tessera_op TESSERA_INT {
  TESSERA_NONE = 0,               /**< as it is stored */
  TESSERA_TRANSPOSE = 1,          /**< its transpose */
  TESSERA_CONJUGATE_TRANSPOSE = 2 /**< its conjugate transpose; only of complex matrices */
} tessera_op;

/** How a product may round; see types.hpp. Strict gives the same bits on every backend. */
typedef enum tessera_math TESSERA_INT {
  TESSERA_STRICT = 0,          /**< bitwise reproducible: the same bits on every backend */
  TESSERA_TF32 = 1,            /**< inputs rounded to tf32, f32 accumulation */
  TESSERA_BF16 = 2,            /**< inputs rounded to bf16, f32 accumulation */
  TESSERA_FP16 = 3,            /**< inputs rounded to fp16, f32 accumulation */
  TESSERA_EMULATED_FP16X3 = 4, /**< operands split into two fp16 parts, three products */
  TESSERA_EMULATED_BF16X6 = 5, /**< operands split into three bf16 parts, six products */
  TESSERA_COMPENSATED = 6,     /**< Kahan's compensated summation */
  TESSERA_STRASSEN = 7,        /**< Strassen's recursion: errors relative to the largest elements */
  TESSERA_SCALED_FP16 = 8,     /**< inputs scaled for each 128 k and rounded to fp16, one product */
  TESSERA_INT8_UNITS = 9       /**< f64 as whole numbers modulo 15 numbers of 8 bits; strict's bound, other bits */
} tessera_math;

/** Whether a product checks its own result; see gemm.hpp. */
typedef enum tessera_verify TESSERA_INT {
  TESSERA_VERIFY_NONE = 0,   /**< it does not */
  TESSERA_VERIFY_DETECT = 1, /**< a wrong result is TESSERA_DATA_CORRUPTION */
  TESSERA_VERIFY_REPAIR = 2  /**< a wrong product is computed again */
} tessera_verify;

/** Says which executor runs a call. Auto is the backend that the environment variable TESSERA_BACKEND names; without
 * it, Auto may choose and fall back, and stays with the first backend in host memory that the program named
 * (backend.hpp). A named one works or the call fails. A backend of another author has a larger value, which
 * tessera_find_backend() gives it for this process. */
typedef enum tessera_backend TESSERA_INT {
  TESSERA_AUTO = 0,      /**< the best available backend for the call */
  TESSERA_REFERENCE = 1, /**< serial loops in libtessera itself */
  TESSERA_OPENMP = 2,    /**< the processor, with OpenMP's threads */
  TESSERA_TBB = 3,       /**< the processor, with oneTBB's threads */
  TESSERA_CUDA = 4,      /**< an NVIDIA GPU */
  TESSERA_OPENCL = 5     /**< a device that OpenCL shows: a GPU of any vendor, or a processor */
} tessera_backend;

/** The numbers of a bias, a step of an epilogue, which is applied to a product's elements before they are stored; see
 * epilogue.hpp. */
typedef enum tessera_bias TESSERA_INT {
  TESSERA_NO_BIAS = 0,        /**< no bias */
  TESSERA_BIAS_PER_ROW = 1,   /**< m numbers */
  TESSERA_BIAS_PER_COLUMN = 2 /**< n numbers */
} tessera_bias;

/** The function that an epilogue applies after the bias. */
typedef enum tessera_activation TESSERA_INT {
  TESSERA_NO_ACTIVATION = 0, /**< the element stays */
  TESSERA_RELU = 1,          /**< negative numbers become +0; NaN stays */
  TESSERA_GELU = 2           /**< x·Φ(x) in its tanh form */
} tessera_activation;

/** An epilogue. Bias and residual have elements of C's type, are in the memory that A, B and C are in, and do not
 * overlap C. Start from tessera_default_epilogue(). */
typedef struct tessera_epilogue {
  size_t size;                   /**< sizeof(tessera_epilogue) when the program was compiled */
  tessera_bias bias_per;         /**< which elements share a number */
  const void* bias;              /**< the first number; NULL: none */
  int64_t bias_step;             /**< elements from one number to the next */
  tessera_activation activation; /**< the function that is applied after the bias */
  const void* residual;          /**< m×n; NULL: none */
  int64_t ld_residual;           /**< elements from one row of the residual to the next */
} tessera_epilogue;

/** The choices of a caller. Start from tessera_default_options(), so that members added later have their defaults. */
typedef struct tessera_options {
  size_t size;                      /**< sizeof(tessera_options) when the program was compiled */
  tessera_backend backend;          /**< a backend that is named is used, or the call fails */
  tessera_math math;                /**< how the product may round */
  const char* kernel;               /**< a kernel of the backend's ladder; NULL: the best one that takes the call */
  int threads;                      /**< 0: the default, by TESSERA_NUM_THREADS, OMP_NUM_THREADS or the machine */
  tessera_dtype result;             /**< type of C: f32 for 16-bit operands, 16 bits for f32, or TESSERA_AS_OPERANDS */
  const tessera_epilogue* epilogue; /**< NULL: none */
  tessera_verify verification;      /**< whether products in host memory check their own results */
} tessera_options;

/** Returns the library's version, such as "0.1.0". */
TESSERA_C_API const char* tessera_version(void);

/** Returns the text of this thread's last failure; "" before any. It is valid until this thread's next failure. */
TESSERA_C_API const char* tessera_last_error(void);

/** Returns the name of a backend, as on the command line, such as "cuda"; NULL if the value has none. The values of
 * backends have no gaps. */
TESSERA_C_API const char* tessera_backend_name(tessera_backend backend);
/** Returns the name of a math mode, as on the command line, such as "strict"; NULL if the value has none. */
TESSERA_C_API const char* tessera_math_name(tessera_math math);

/** Finds the backend of this name, as on the command line: one of the list above, or the one whose plug-in
 * libtessera_<name>.so is found. TESSERA_INVALID_ARGUMENT with the nearest known name, and why no plug-in was found. */
TESSERA_C_API tessera_status tessera_find_backend(const char* name, tessera_backend* backend);

/** Returns TESSERA_OK if the backend can be used here; else TESSERA_UNAVAILABLE, with the reason as text. */
TESSERA_C_API tessera_status tessera_backend_available(tessera_backend backend);

/** Returns options with the defaults: Auto, Strict, the best kernel, the default number of threads, no epilogue. */
TESSERA_C_API tessera_options tessera_default_options(void);
/** Returns an epilogue that leaves the product as it is. */
TESSERA_C_API tessera_epilogue tessera_default_epilogue(void);

/** Computes C := alpha·op(A)·op(B) + beta·C in host memory. op(A) is m×k, op(B) is k×n, C is m×n. options may be NULL.
 * beta = 0 does not read C. */
TESSERA_C_API tessera_status tessera_gemm_f32(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              float alpha, const float* a, int64_t lda, const float* b, int64_t ldb,
                                              float beta, float* c, int64_t ldc, const tessera_options* options);
/** Computes what tessera_gemm_f32() computes, for double. */
TESSERA_C_API tessera_status tessera_gemm_f64(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              double alpha, const double* a, int64_t lda, const double* b, int64_t ldb,
                                              double beta, double* c, int64_t ldc, const tessera_options* options);

/** Returns what products that verify themselves have found in this process: how many there were, how many of them were
 * wrong, and how many of these were computed again and are right. Each pointer may be NULL. */
TESSERA_C_API void tessera_verify_counts(uint64_t* products, uint64_t* wrong, uint64_t* repaired);

/** The answer of tessera_health(); health.hpp explains it. */
typedef struct tessera_health_report {
  size_t size;     /**< sizeof(tessera_health_report) when the program was compiled; set it before the call */
  int sound;       /**< 1: every bit was right; 0: there are findings */
  int core;        /**< the core of the first finding; -1: none */
  size_t findings; /**< tests and places that differed */
  uint64_t rounds; /**< that were whole */
  uint64_t runs;   /**< of tests */
  double seconds;  /**< that it took */
  char text[4096]; /**< all of it in words, cut to its length */
} tessera_health_report;

/** Examines the machine for so many seconds, 0 for one short round: each core alone, all at once, memory and every
 * backend compute results whose bits are known. TESSERA_OK also where something differs: report->sound tells. */
TESSERA_C_API tessera_status tessera_health(double seconds, tessera_health_report* report);

/** Computes the product of complex matrices in host memory. A number is a pair of float or double, the real part first,
 * like `float _Complex` and `std::complex<float>`. alpha and beta point to one number each. complex.hpp defines the
 * order of the operations. */
TESSERA_C_API tessera_status tessera_gemm_complex_f32(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                                      const void* alpha, const void* a, int64_t lda, const void* b,
                                                      int64_t ldb, const void* beta, void* c, int64_t ldc,
                                                      const tessera_options* options);
/** Computes what tessera_gemm_complex_f32() computes, for pairs of double. */
TESSERA_C_API tessera_status tessera_gemm_complex_f64(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                                      const void* alpha, const void* a, int64_t lda, const void* b,
                                                      int64_t ldb, const void* beta, void* c, int64_t ldc,
                                                      const tessera_options* options);
/** Computes the product of matrices of any type in host memory; the type of C is options->result. alpha and beta are
 * rounded to f32 unless `type` is f64. */
TESSERA_C_API tessera_status tessera_gemm(tessera_dtype type, tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                          int64_t k, double alpha, const void* a, int64_t lda, const void* b,
                                          int64_t ldb, double beta, void* c, int64_t ldc,
                                          const tessera_options* options);

/** Computes `count` products of one shape in host memory, with the bits of single products; batch.hpp says what is
 * checked. Strides count elements from one product's operand to the next one's; strides of A and B may be 0. */
TESSERA_C_API tessera_status tessera_gemm_strided_batch_f32(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                                            int64_t k, float alpha, const float* a, int64_t lda,
                                                            int64_t stride_a, const float* b, int64_t ldb,
                                                            int64_t stride_b, float beta, float* c, int64_t ldc,
                                                            int64_t stride_c, int64_t count,
                                                            const tessera_options* options);
/** Computes what tessera_gemm_strided_batch_f32() computes, for double. */
TESSERA_C_API tessera_status tessera_gemm_strided_batch_f64(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                                            int64_t k, double alpha, const double* a, int64_t lda,
                                                            int64_t stride_a, const double* b, int64_t ldb,
                                                            int64_t stride_b, double beta, double* c, int64_t ldc,
                                                            int64_t stride_c, int64_t count,
                                                            const tessera_options* options);

/** A group of a batch: `count` products of one shape. Their operands are given by all_a, all_b and all_c, arrays of
 * `count` pointers each, or, if these are NULL, by a, b and c and the strides. alpha and beta are exact in the
 * operands' type. Members that are not used are 0. */
typedef struct tessera_gemm_group {
  tessera_op op_a;          /**< how A is read */
  tessera_op op_b;          /**< how B is read */
  int64_t m;                /**< rows of op(A) and C */
  int64_t n;                /**< columns of op(B) and C */
  int64_t k;                /**< columns of op(A) and rows of op(B) */
  double alpha;             /**< factor of the product */
  double beta;              /**< factor of C as it was; 0: C is not read */
  const void* a;            /**< the first product's A */
  int64_t lda;              /**< elements from one stored row of A to the next */
  int64_t stride_a;         /**< elements from one A to the next */
  const void* b;            /**< the first product's B */
  int64_t ldb;              /**< elements from one stored row of B to the next */
  int64_t stride_b;         /**< elements from one B to the next */
  void* c;                  /**< the first product's C */
  int64_t ldc;              /**< elements from one row of C to the next */
  int64_t stride_c;         /**< elements from one C to the next */
  int64_t count;            /**< number of products */
  const void* const* all_a; /**< `count` pointers to A, or NULL */
  const void* const* all_b; /**< `count` pointers to B, or NULL */
  void* const* all_c;       /**< `count` pointers to C, or NULL */
} tessera_gemm_group;

/** Computes groups of different shapes in host memory. If one of them is invalid, or two results share an element, no C
 * is written. */
TESSERA_C_API tessera_status tessera_gemm_batch(tessera_dtype type, const tessera_gemm_group* groups,
                                                size_t group_count, const tessera_options* options);

/** Types of elements that tessera_check() reads: the types of tessera_dtype with their values, and others:
 * TESSERA_CHECKED_F32, TESSERA_CHECKED_F64, TESSERA_CHECKED_FLOAT16, TESSERA_CHECKED_BFLOAT16,
 * TESSERA_CHECKED_E4M3, TESSERA_CHECKED_E5M2, TESSERA_CHECKED_I8, and TESSERA_CHECKED_I32 of results. The list of
 * detail/element_types.h says what each is. */
typedef enum tessera_checked_type TESSERA_INT { TESSERA_ELEMENT_TYPES(TESSERA_AS_CHECKED_TYPE) } tessera_checked_type;

/** The choices of a check. Start from tessera_default_check_options(). */
typedef struct tessera_check_options {
  size_t size;                      /**< sizeof(tessera_check_options) when the program was compiled */
  tessera_math math;                /**< how the product may round */
  double alpha;                     /**< factor of the product; 1 by default */
  double beta;                      /**< factor of C as it was; 0 by default */
  const void* c_before;             /**< C as it was before the product, of C's type; needed where beta is not 0 */
  int64_t ld_c_before;              /**< elements from one row of it to the next */
  const tessera_epilogue* epilogue; /**< NULL: none */
  uint64_t seed;                    /**< decides the signs and the sampled rows; 1 by default */
  int64_t rows;                     /**< rows of all C to compare element by element; 0: as many as are cheap */
  int vectors;                      /**< random vectors of Freivalds' check; 0: 16; -1: none */
  int threads;                      /**< 0: the default */
  int64_t count;                    /**< number of products; 1 by default */
  int64_t stride_a;                 /**< elements from one A to the next; may be 0 */
  int64_t stride_b;                 /**< elements from one B to the next; may be 0 */
  int64_t stride_c;                 /**< elements from one C to the next */
  int64_t stride_c_before;          /**< elements from one C as it was to the next */
  int64_t stride_residual;          /**< elements from one residual to the next; all products share the bias */
  const void* const* all_a;         /**< `count` pointers in place of a and its stride, or NULL */
  const void* const* all_b;         /**< `count` pointers in place of b and its stride, or NULL */
  const void* const* all_c;         /**< `count` pointers in place of c and its stride, or NULL */
  const void* const* all_c_before;  /**< `count` pointers in place of c_before and its stride, or NULL */
} tessera_check_options;

/** What a certificate says. */
typedef enum tessera_verdict TESSERA_INT {
  TESSERA_RIGHT = 0,    /**< nothing that was looked at is beyond its bound */
  TESSERA_WRONG = 1,    /**< an element or a row is beyond its bound */
  TESSERA_UNDECIDED = 2 /**< NaN, Inf or overflow may reach all that was looked at */
} tessera_verdict;

/** The answer of tessera_check(); check.hpp explains the numbers. */
typedef struct tessera_certificate {
  size_t size;               /**< sizeof(tessera_certificate) when the program was compiled; set it before the call */
  tessera_verdict verdict;   /**< what the certificate says */
  int vectors;               /**< random vectors of Freivalds' check; 0: it was left out */
  int64_t rows;              /**< rows of all C */
  int64_t rows_compared;     /**< rows that were compared element by element */
  int64_t rows_judged;       /**< rows that Freivalds' check judged */
  int64_t rows_beyond;       /**< rows that Freivalds' check found */
  int64_t elements_beyond;   /**< compared elements beyond their bounds */
  double max_over_bound;     /**< largest |error| / bound of a compared element */
  double row_over_bound;     /**< largest error of a row in units of its bound, by Freivalds' check */
  double max_abs;            /**< largest |error| of a compared element */
  double max_rel;            /**< largest relative error of a compared element */
  double norm_error;         /**< Frobenius norm of the compared rows' errors */
  double norm_exact;         /**< Frobenius norm of the compared rows of the reference */
  double probability_missed; /**< that errors in a judged row, one of them beyond its row's bound, were missed */
  int64_t worst_product;     /**< product of the worst element; -1: no compared element differs from the reference */
  int64_t worst_row;         /**< its row */
  int64_t worst_col;         /**< its column */
  double computed;           /**< its value in C */
  double exact;              /**< the exact value, rounded to double */
  double bound;              /**< the error that it may have */
  int64_t blind_products; /**< products for which a C of zeros would pass, too: the bounds are larger than they are */
  char text[2048];        /**< the answer in words, cut to this length */
} tessera_certificate;

/** Returns check options with the defaults. */
TESSERA_C_API tessera_check_options tessera_default_check_options(void);

/** Says whether C, in host memory, is epilogue(alpha·op(A)·op(B) + beta·C as it was) as the math mode may round it.
 * op(A) is m×k, op(B) is k×n, C is m×n. C is not changed. TESSERA_OK means that `certificate` was filled; its verdict
 * may be any. Bad arguments leave it as it was. options may be NULL. */
TESSERA_C_API tessera_status tessera_check(tessera_checked_type type_a, tessera_checked_type type_b,
                                           tessera_checked_type type_c, tessera_op op_a, tessera_op op_b, int64_t m,
                                           int64_t n, int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb,
                                           const void* c, int64_t ldc, const tessera_check_options* options,
                                           tessera_certificate* certificate);

/** An executor and its memory, for operands that stay on a device. It belongs to the library and is never freed. */
typedef struct tessera_executor tessera_executor;

/** Gives the executor of a backend, which is made on first use. On failure *executor is NULL. */
TESSERA_C_API tessera_status tessera_get_executor(tessera_backend backend, tessera_executor** executor);
/** Returns the executor's backend; TESSERA_AUTO if executor is NULL. */
TESSERA_C_API tessera_backend tessera_executor_backend(const tessera_executor* executor);
/** Returns the name of the processor or GPU; NULL if executor is NULL. */
TESSERA_C_API const char* tessera_executor_device(const tessera_executor* executor);
/** Allocates memory of the executor, aligned to at least 64 bytes. On failure *memory is NULL. */
TESSERA_C_API tessera_status tessera_allocate(tessera_executor* executor, size_t bytes, void** memory);
/** Frees memory that tessera_allocate() gave; NULL does nothing. */
TESSERA_C_API void tessera_free(tessera_executor* executor, void* memory);
/** Copies `rows` rows from the host to the executor's memory, of `width` bytes; pitches are bytes from one row to the
 * next, at least `width`. The copy is complete on return. A null address or a smaller pitch is
 * TESSERA_INVALID_ARGUMENT, except that no bytes need neither. */
TESSERA_C_API tessera_status tessera_copy_in(tessera_executor* executor, void* device, size_t device_pitch,
                                             const void* host, size_t host_pitch, size_t width, size_t rows);
/** Copies rows from the executor's memory to the host, as tessera_copy_in() copies them from there. */
TESSERA_C_API tessera_status tessera_copy_out(tessera_executor* executor, void* host, size_t host_pitch,
                                              const void* device, size_t device_pitch, size_t width, size_t rows);
/** Enqueues a product of operands in the executor's memory. options->backend is ignored. */
TESSERA_C_API tessera_status tessera_executor_gemm(tessera_executor* executor, tessera_dtype type, tessera_op op_a,
                                                   tessera_op op_b, int64_t m, int64_t n, int64_t k, double alpha,
                                                   const void* a, int64_t lda, const void* b, int64_t ldb, double beta,
                                                   void* c, int64_t ldc, const tessera_options* options);
/** Enqueues a complex product of operands in the executor's memory. `type` is the type of the real and imaginary parts.
 * alpha and beta point to complex numbers of this type in host memory. */
TESSERA_C_API tessera_status tessera_executor_gemm_complex(tessera_executor* executor, tessera_dtype type,
                                                           tessera_op op_a, tessera_op op_b, int64_t m, int64_t n,
                                                           int64_t k, const void* alpha, const void* a, int64_t lda,
                                                           const void* b, int64_t ldb, const void* beta, void* c,
                                                           int64_t ldc, const tessera_options* options);
/** Enqueues groups of products of operands in the executor's memory, as tessera_gemm_batch() checks them. The arrays of
 * pointers are in host memory and need not outlive the call. */
TESSERA_C_API tessera_status tessera_executor_gemm_batch(tessera_executor* executor, tessera_dtype type,
                                                         const tessera_gemm_group* groups, size_t group_count,
                                                         const tessera_options* options);
/** Waits until the work that was enqueued is done. */
TESSERA_C_API tessera_status tessera_synchronize(tessera_executor* executor);

#ifdef __cplusplus
}
#endif

#endif
