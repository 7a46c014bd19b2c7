#ifndef TESSERA_TESSERA_DISTRIBUTED_H
#define TESSERA_TESSERA_DISTRIBUTED_H

/** @file
 * Products of matrices over the ranks of an MPI program, for C (C99 and later).
 *
 *     MPI_Comm comm = MPI_COMM_WORLD;
 *     tessera_grid* grid;
 *     if (tessera_grid_create(&comm, sizeof comm, 2, 2, 1, 0, &grid) != TESSERA_OK) puts(tessera_last_error());
 *     tessera_pgemm(grid, TESSERA_F64, TESSERA_NONE, TESSERA_NONE, 1, a, desc_a, b, desc_b, 0, c, desc_c, NULL);
 *     tessera_grid_destroy(grid);
 *
 * Descriptors are ScaLAPACK's: nine integers DTYPE_, CTXT_, M_, N_, MB_, NB_, RSRC_, CSRC_, LLD_, of which the context
 * is not looked at. No BLACS is needed. <tessera/distributed/distributed.hpp> says what the bits are, and how errors
 * reach all ranks: every function here is collective and returns the same status on all ranks, unless its grid or its C
 * is NULL, or its description says that only one rank need call it.
 */

#include <tessera/tessera.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The order of each rank's elements. */
typedef enum tessera_local_order TESSERA_INT {
  TESSERA_ROW_MAJOR = 0,   /**< rows one after the other; LLD_ counts elements from one row to the next */
  TESSERA_COLUMN_MAJOR = 1 /**< columns one after the other, as in ScaLAPACK */
} tessera_local_order;

/** A grid of ranks. A program makes it, and destroys it before MPI_Finalize. */
typedef struct tessera_grid tessera_grid;

/** Makes a grid of rows×cols×layers ranks with a communicator of its own: rank l·rows·cols + p·cols + q of the
 * communicator is in row p and column q of layer l. Matrices lie on layer 0. `comm` is the address of an MPI_Comm and
 * `comm_size` its sizeof. A rank that waits for another one longer than `time_limit` seconds gets TESSERA_DEVICE_ERROR;
 * 0 means 600 seconds. On failure *grid is NULL. */
TESSERA_C_API tessera_status tessera_grid_create(const void* comm, size_t comm_size, int rows, int cols, int layers,
                                                 double time_limit, tessera_grid** grid);
/** Ends a grid; NULL does nothing. */
TESSERA_C_API void tessera_grid_destroy(tessera_grid* grid);
/** Returns how many of `size` rows or columns a rank holds: `block` is the size of a block, `coordinate` the rank's
 * process row or column, `source` the coordinate of the first block, and `count` the number of process rows or columns.
 * It is ScaLAPACK's NUMROC. Returns 0 for block < 1, count < 1 or a negative size. */
TESSERA_C_API int64_t tessera_local_size(int64_t size, int64_t block, int coordinate, int source, int count);

/** The choices of a caller. Start from tessera_default_pgemm_options(). Ranks may differ in backend, threads and
 * memory_limit, and must agree on the rest. */
typedef struct tessera_pgemm_options {
  size_t size;               /**< sizeof(tessera_pgemm_options) when the program was compiled */
  tessera_local_order order; /**< of A, B and C on every rank */
  tessera_backend backend;   /**< multiplies on this rank */
  const char* engine;        /**< "summa" or "pblas"; NULL: the first one that takes the product */
  int threads;               /**< of the local products; 0: the default */
  size_t memory_limit;       /**< most bytes that the product may allocate on this rank; 0: no limit */
  int device_messages;       /**< not 0: MPI broadcasts panels from and into the memory of the ranks' backends; if it
                              * cannot, every rank gets TESSERA_UNAVAILABLE */
} tessera_pgemm_options;

/** Returns options with the defaults: column-major, Auto, any engine, the default threads, no limit, messages through
 * the host's memory. */
TESSERA_C_API tessera_pgemm_options tessera_default_pgemm_options(void);

/** Computes C := alpha·op(A)·op(B) + beta·C. a, b and c are this rank's elements. alpha and beta are rounded to f32
 * unless `type` is f64. options may be NULL. */
TESSERA_C_API tessera_status tessera_pgemm(tessera_grid* grid, tessera_dtype type, tessera_op op_a, tessera_op op_b,
                                           double alpha, const void* a, const int* desc_a, const void* b,
                                           const int* desc_b, double beta, void* c, const int* desc_c,
                                           const tessera_pgemm_options* options);
/** Computes the product of complex matrices. `type` is the type of the parts, f32 or f64; alpha and beta point to one
 * complex number each. */
TESSERA_C_API tessera_status tessera_pgemm_complex(tessera_grid* grid, tessera_dtype type, tessera_op op_a,
                                                   tessera_op op_b, const void* alpha, const void* a, const int* desc_a,
                                                   const void* b, const int* desc_b, const void* beta, void* c,
                                                   const int* desc_c, const tessera_pgemm_options* options);

/** What a product will take on this rank. */
typedef struct tessera_pgemm_plan {
  size_t size;         /**< sizeof(tessera_pgemm_plan) when the program was compiled; set it before the call */
  const char* engine;  /**< the engine that would run, valid until the process ends; NULL if nothing is multiplied */
  size_t host_bytes;   /**< memory of the host */
  size_t device_bytes; /**< memory of the device that multiplies; memory_limit is compared with the sum of both */
  int counts_bytes;    /**< not 0 if the engine counts what it receives, so that bytes_expected is known */
  uint64_t bytes_expected; /**< bytes of elements that will come from other ranks */
} tessera_pgemm_plan;

/** Sets *plan to what tessera_pgemm() with these arguments will take on this rank. Nothing is multiplied, and
 * memory_limit is not looked at. Ranks may have different plans. */
TESSERA_C_API tessera_status tessera_plan_pgemm(tessera_grid* grid, tessera_dtype type, tessera_op op_a,
                                                tessera_op op_b, double alpha, const void* a, const int* desc_a,
                                                const void* b, const int* desc_b, double beta, const void* c,
                                                const int* desc_c, const tessera_pgemm_options* options,
                                                tessera_pgemm_plan* plan);
/** Sets *plan to what tessera_pgemm_complex() with these arguments will take on this rank. */
TESSERA_C_API tessera_status tessera_plan_pgemm_complex(tessera_grid* grid, tessera_dtype type, tessera_op op_a,
                                                        tessera_op op_b, const void* alpha, const void* a,
                                                        const int* desc_a, const void* b, const int* desc_b,
                                                        const void* beta, const void* c, const int* desc_c,
                                                        const tessera_pgemm_options* options, tessera_pgemm_plan* plan);

/** A matrix over the ranks of a grid, in the library's memory. Its elements can stay in the memory of a backend's
 * device between products, which then copy what MPI sends and no more. */
typedef struct tessera_pmatrix tessera_pmatrix;

/** Where the elements of a tessera_pmatrix are. Start from tessera_default_pmatrix_options(). Ranks may differ in
 * backend and device, and must agree on the order. */
typedef struct tessera_pmatrix_options {
  size_t size;               /**< sizeof(tessera_pmatrix_options) when the program was compiled */
  tessera_local_order order; /**< of each rank's elements */
  tessera_backend backend;   /**< in whose memory they stay; TESSERA_AUTO, or a backend of the host: in the host's */
  int device;                /**< the backend's device, counted from 0; -1: the backend's choice */
} tessera_pmatrix_options;

/** Returns options with the defaults: column-major, in the host's memory. */
TESSERA_C_API tessera_pmatrix_options tessera_default_pmatrix_options(void);

/** Makes a rows×cols matrix whose elements are undefined. `type` is the type of the elements; if `is_complex` is not 0,
 * of the parts of complex numbers, f32 or f64. Block (i, j) of row_block×col_block elements is on process row i mod P
 * and process column j mod Q; a block size of 0 is as large as gives every rank a part, at most 1024. options may be
 * NULL. On failure *matrix is NULL. A matrix on a device has memory of its size on the host, too. */
TESSERA_C_API tessera_status tessera_pmatrix_create(tessera_grid* grid, tessera_dtype type, int is_complex,
                                                    int64_t rows, int64_t cols, int64_t row_block, int64_t col_block,
                                                    const tessera_pmatrix_options* options, tessera_pmatrix** matrix);
/** Ends a matrix; NULL does nothing. A program does it before MPI_Finalize; the grid may have been destroyed. Only this
 * rank need call it. */
TESSERA_C_API void tessera_pmatrix_destroy(tessera_pmatrix* matrix);
/** Sets *data to this rank's elements in host memory and *ld to how many elements are from one row to the next, or from
 * column to column; tessera_local_size() says how many rows and columns they are. Elements whose newest copy is on a
 * device are brought to the host. They may be read until the next call that takes the matrix. Only this rank need call
 * it. data or ld may be NULL. */
TESSERA_C_API tessera_status tessera_pmatrix_read(const tessera_pmatrix* matrix, const void** data, int64_t* ld);
/** Does what tessera_pmatrix_read() does, and the elements may be changed until the next call that takes the matrix:
 * the copy on a device is then the older one. */
TESSERA_C_API tessera_status tessera_pmatrix_write(tessera_pmatrix* matrix, void** data, int64_t* ld);
/** Copies a matrix of the rank `root`, which lies row by row at `whole`, `ld` elements from one row to the next, to the
 * ranks. The other ranks' `whole` is not looked at. */
TESSERA_C_API tessera_status tessera_pmatrix_scatter(tessera_pmatrix* matrix, const void* whole, int64_t ld, int root);
/** Copies the matrix to the memory of the rank `root`, row by row. */
TESSERA_C_API tessera_status tessera_pmatrix_gather(const tessera_pmatrix* matrix, void* whole, int64_t ld, int root);

/** Computes C := alpha·op(A)·op(B) + beta·C for matrices on one grid and of one type. alpha and beta point to one
 * number each: a float for f32 and for elements of 16 bits, a double for f64, a complex number of two of these for
 * complex elements. options may be NULL; its order is not looked at, and TESSERA_AUTO multiplies where C stays, or else
 * A or B. */
TESSERA_C_API tessera_status tessera_pmatrix_gemm(tessera_op op_a, tessera_op op_b, const void* alpha,
                                                  const tessera_pmatrix* a, const tessera_pmatrix* b, const void* beta,
                                                  tessera_pmatrix* c, const tessera_pgemm_options* options);
/** Sets *plan to what tessera_pmatrix_gemm() with these arguments will take on this rank, as tessera_plan_pgemm()
 * does. */
TESSERA_C_API tessera_status tessera_plan_pmatrix_gemm(tessera_op op_a, tessera_op op_b, const void* alpha,
                                                       const tessera_pmatrix* a, const tessera_pmatrix* b,
                                                       const void* beta, const tessera_pmatrix* c,
                                                       const tessera_pgemm_options* options, tessera_pgemm_plan* plan);

#ifdef __cplusplus
}
#endif

#endif
