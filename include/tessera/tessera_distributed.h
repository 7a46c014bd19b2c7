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
 * is not looked at. No BLACS is needed. <tessera/distributed.hpp> says what the bits are, and how errors reach all
 * ranks: every function here is collective and returns the same status on all ranks, unless its grid is NULL.
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

#ifdef __cplusplus
}
#endif

#endif
