#ifndef TESSERA_KERNEL_ABI_H
#define TESSERA_KERNEL_ABI_H

/** @file
 * The interface of a matrix product of another author, for `gemm_compare --kernel FILE --abi tessera`. Plain C.
 *
 * The shared library exports tessera_kernel(), and tessera_kernel_reject() if it does not take every call:
 *
 *     int tessera_kernel(const tessera_kernel_call* call) {
 *       const float* a = (const float*)call->a;
 *       ...
 *       return 0;
 *     }
 *
 * The kernel computes C := alpha * op(A) * op(B) + beta * C; all three matrices are row-major. op(A) is m x k, op(B) is
 * k x n, C is m x n. Leading dimensions count elements between rows as they are stored. If beta is 0, C may hold NaN
 * and must not be read. The kernel must not write A, B or anything outside the m x n elements of C.
 *
 * On the CPU the pointers are host memory and the work is done when the function returns. With CUDA they are device
 * memory, `stream` is a cudaStream_t, and the work may still be under way on any stream of the device.
 *
 * Everything in the call belongs to the caller and is valid only until the function returns (CUDA: until the work is
 * done). Pointers differ from call to call. The caller makes one call at a time.
 */

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): this is C */

#include <tessera/detail/element_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** This number is raised when a field changes its meaning. Fields are only added, at the end. */
#define TESSERA_KERNEL_ABI_VERSION 1

/** Types of elements, with the numbers of the column `kernel` of detail/element_types.h: TESSERA_KERNEL_F32,
 * TESSERA_KERNEL_F64, TESSERA_KERNEL_F16 (as _Float16 and CUDA's __half), TESSERA_KERNEL_BF16 (as CUDA's
 * __nv_bfloat16), and TESSERA_KERNEL_I8 (A and B of int8_t, C of int32_t; alpha is 1, beta 0 or 1). Types are only
 * added. A kernel that does not take all of them exports tessera_kernel_reject(). */
enum { TESSERA_KERNEL_TYPES(TESSERA_AS_KERNEL_TYPE) };

/** One product. */
typedef struct tessera_kernel_call {
  uint32_t struct_size; /**< sizeof(tessera_kernel_call) of the caller: at least this one's */
  uint32_t abi_version; /**< TESSERA_KERNEL_ABI_VERSION of the caller */
  int32_t type;         /**< one of TESSERA_KERNEL_* */
  int32_t trans_a;      /**< 1: A is stored k x m */
  int32_t trans_b;      /**< 1: B is stored n x k */
  int32_t threads;      /**< CPU: threads that the kernel may use, at least 1 */
  int64_t m;            /**< rows of op(A) and C, at least 1 */
  int64_t n;            /**< columns of op(B) and C, at least 1 */
  int64_t k;            /**< columns of op(A) and rows of op(B), at least 1 */
  double alpha;         /**< exact in float, and in double with F64; like beta */
  const void* a;        /**< the first stored element of A */
  int64_t lda;          /**< elements from one stored row of A to the next */
  const void* b;        /**< the first stored element of B */
  int64_t ldb;          /**< elements from one stored row of B to the next */
  double beta;          /**< factor of C as it was; 0: C is not read */
  void* c;              /**< the first element of C */
  int64_t ldc;          /**< elements from one row of C to the next */
  void* stream;         /**< CUDA: cudaStream_t; null on the CPU */
} tessera_kernel_call;

/** Returns 0 if the work is done (CUDA: enqueued). Any other number is the kernel's error, which the user is shown. */
int tessera_kernel(const tessera_kernel_call* call);

/** Optional. Returns null if the kernel takes this call, else one constant line that says why not. The pointers in the
 * call are null here. */
const char* tessera_kernel_reject(const tessera_kernel_call* call);

#ifdef __cplusplus
}
#endif

#endif
