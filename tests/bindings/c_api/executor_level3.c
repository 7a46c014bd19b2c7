/* Level 3 of the BLAS in an executor's memory, by the C interface. The exit status says whether a check failed. */
#include "executor_checks.h"

static void* put(const double* rows, int64_t count, int64_t cols) { return put_parts(1, rows, count, cols); }
static int equal_there(const void* memory, const double* rows, int64_t count, int64_t cols) {
  return equal_parts(1, memory, rows, count, cols);
}

/* Level 3. The lower triangle of the matrix counts; the numbers are whole, so that every order of sums has the same
 * result. Factors are exact. */
static void level_3(tessera_backend backend) {
  static const double b[N * 2] = {1, 2, 3, 4, 5, 6}, lower[N * N] = {4, 9, 9, 2, 5, 9, 1, 2, 5};
  static const double product[N * 2] = {8, 16, 34, 48, 64, 80};       /* 2·T·B */
  static const double of_transpose[N * 2] = {15, 22, 25, 32, 25, 30}; /* Tᵀ·B */
  static const double symmetric[N * 2] = {15, 22, 27, 36, 32, 40};    /* A·B */
  static const double gram[N * N] = {16, 7, 7, 8, 29, 7, 4, 12, 30};  /* T·Tᵀ, lower, of the triangle alone */
  static const double alone[N * N] = {4, 0, 0, 2, 5, 0, 1, 2, 5}, sevens[N * N] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
  static const double other[N * N] = {1, 0, 2, 0, 1, 0, 3, 0, 1};
  static const double sum_of_two[N * N] = {15, 7, 7, 9, 17, 7, 30, 15, 23}; /* T·Bᵀ + B·Tᵀ + 7, lower */
  void *t = NULL, *x = NULL, *c = NULL, *a = NULL, *second = NULL;
  require("get_executor", tessera_get_executor(backend, &where) == TESSERA_OK);
  t = put(lower, N, N);
  x = put(b, N, 2);
  require("executor_trmm", tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                                 TESSERA_STORED_DIAGONAL, N, 2, 2, t, LD, x, LD) == TESSERA_OK);
  require("its product", equal_there(x, product, N, 2));
  require("executor_trsm", tessera_executor_trsm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                                 TESSERA_STORED_DIAGONAL, N, 2, 0.5, t, LD, x, LD) == TESSERA_OK);
  require("its solution", equal_there(x, b, N, 2));
  c = put(NULL, 0, 0);
  require("executor_symm", tessera_executor_symm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, N, 2, 1, t, LD,
                                                 x, LD, 0, c, LD) == TESSERA_OK);
  require("its product", equal_there(c, symmetric, N, 2));
  require("executor_trmm",
          tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_TRANSPOSE,
                                TESSERA_STORED_DIAGONAL, N, 2, 1, t, LD, x, LD) == TESSERA_OK);
  require("its product", equal_there(x, of_transpose, N, 2));
  tessera_free(where, c);
  a = put(alone, N, N);
  c = put(sevens, N, N);
  require("executor_syrk", tessera_executor_syrk(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, N, N, 1, a, LD, 0, c,
                                                 LD) == TESSERA_OK);
  require("its triangle", equal_there(c, gram, N, N));
  tessera_free(where, c);
  c = put(sevens, N, N);
  second = put(other, N, N);
  require("executor_syr2k", tessera_executor_syr2k(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, N, N, 1, a, LD,
                                                   second, LD, 1, c, LD) == TESSERA_OK);
  require("its triangle", equal_there(c, sum_of_two, N, N));
  refused("executor_syr2k",
          tessera_executor_syr2k(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, N, N, 1, a, LD, second, 2, 1, c, LD),
          "ld");
  tessera_free(where, second);
  tessera_free(where, c);
  tessera_free(where, a);

  { /* two complex numbers a row, as pairs; 1 + i times the triangle (1 0; i 2) times (1; i) */
    static const double pairs[2 * 4] = {1, 0, 7, 7, 0, 1, 2, 0}, column[2 * 2] = {1, 0, 0, 1};
    static const double times[2 * 2] = {1, 1, -3, 3}, factor[2] = {1, 1}, one[2] = {1, 0}, zero[2] = {0, 0};
    static const double square[2 * 4] = {1, 0, 7, 7, 0, 1, 5, 0}; /* herk of the triangle alone */
    static const double triangle[2 * 4] = {1, 0, 0, 0, 0, 1, 2, 0}, seven[2 * 4] = {7, 7, 7, 7, 7, 7, 7, 7};
    static const double hermitian[2 * 2] = {2, 0, 0, 3};               /* (1 −i; i 2)·(1; i) */
    static const double other_pairs[2 * 4] = {1, 0, 0, 1, 2, 0, 0, 0}; /* B = (1 i; 2 0) */
    static const double hermitian_sum[2 * 4] = {9, 0, 7, 7, 10, 4, 3, 0}; /* (1 + i)·A·Bᴴ, its conjugate transpose, C */
    static const double symmetric_sum[2 * 4] = {2, 0, 7, 7, 2, 3, 0, 4};
    double got[2 * 4];
    void *v = NULL, *z = NULL, *y = NULL, *w = NULL;
    tessera_allocate(where, sizeof pairs, &z);
    tessera_allocate(where, sizeof column, &y);
    tessera_allocate(where, sizeof seven, &w);
    tessera_copy_in(where, z, sizeof pairs, pairs, sizeof pairs, sizeof pairs, 1);
    tessera_copy_in(where, y, sizeof column, column, sizeof column, sizeof column, 1);
    require("executor_hemm", tessera_executor_hemm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, 2, 1, one, z,
                                                   2, y, 1, zero, w, 1) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof hermitian, w, sizeof hermitian, sizeof hermitian, 1);
    require("its product", memcmp(got, hermitian, sizeof hermitian) == 0);
    require("executor_symm_complex",
            tessera_executor_symm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, 2, 1, one, z, 2, y, 1,
                                          zero, w, 1) == TESSERA_OK);
    require("executor_trmm_complex",
            tessera_executor_trmm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                          TESSERA_STORED_DIAGONAL, 2, 1, factor, z, 2, y, 1) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof times, y, sizeof times, sizeof times, 1);
    require("its product", memcmp(got, times, sizeof times) == 0);
    require("executor_trsm_complex",
            tessera_executor_trsm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                          TESSERA_UNIT_DIAGONAL, 2, 1, one, z, 2, y, 1) == TESSERA_OK);
    tessera_copy_in(where, z, sizeof triangle, triangle, sizeof triangle, sizeof triangle, 1);
    tessera_copy_in(where, w, sizeof seven, seven, sizeof seven, sizeof seven, 1);
    require("executor_herk", tessera_executor_herk(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2, 2, 1, z, 2, 0, w,
                                                   2) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof square, w, sizeof square, sizeof square, 1);
    require("its triangle", memcmp(got, square, sizeof square) == 0);
    require("executor_syrk_complex", tessera_executor_syrk_complex(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2,
                                                                   2, one, z, 2, zero, w, 2) == TESSERA_OK);
    tessera_allocate(where, sizeof other_pairs, &v);
    tessera_copy_in(where, v, sizeof other_pairs, other_pairs, sizeof other_pairs, sizeof other_pairs, 1);
    tessera_copy_in(where, w, sizeof seven, seven, sizeof seven, sizeof seven, 1);
    require("executor_her2k", tessera_executor_her2k(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2, 2, factor, z,
                                                     2, v, 2, 1, w, 2) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof hermitian_sum, w, sizeof hermitian_sum, sizeof hermitian_sum, 1);
    require("its triangle", memcmp(got, hermitian_sum, sizeof hermitian_sum) == 0);
    tessera_copy_in(where, w, sizeof seven, seven, sizeof seven, sizeof seven, 1);
    require("executor_syr2k_complex", tessera_executor_syr2k_complex(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2,
                                                                     2, one, z, 2, v, 2, zero, w, 2) == TESSERA_OK);
    tessera_copy_out(where, got, sizeof symmetric_sum, w, sizeof symmetric_sum, sizeof symmetric_sum, 1);
    require("its triangle", memcmp(got, symmetric_sum, sizeof symmetric_sum) == 0);
    refused("executor_her2k",
            tessera_executor_her2k(where, TESSERA_F64, TESSERA_LOWER, TESSERA_NONE, 2, 2, NULL, z, 2, v, 2, 1, w, 2),
            "alpha is null; pass the address of a complex number");
    tessera_free(where, v);
    refused("executor_trmm_complex",
            tessera_executor_trmm_complex(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                          TESSERA_STORED_DIAGONAL, 2, 1, NULL, z, 2, y, 1),
            "alpha is null; pass the address of a complex number");
    tessera_free(where, z);
    tessera_free(where, y);
    tessera_free(where, w);
  }
  refused("executor_trmm",
          tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_CONJUGATE_TRANSPOSE,
                                TESSERA_STORED_DIAGONAL, N, 2, 1, t, LD, x, LD),
          "op = 2 is none of 0 … 1");
  refused("executor_trmm",
          tessera_executor_trmm(where, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, TESSERA_NONE,
                                TESSERA_STORED_DIAGONAL, N, 2, 1, t, 2, x, LD),
          "ld");
  refused("executor_symm",
          tessera_executor_symm(NULL, TESSERA_F64, TESSERA_ON_THE_LEFT, TESSERA_LOWER, N, 2, 1, t, LD, x, LD, 0, x, LD),
          "executor is null");
  require("synchronize", tessera_synchronize(where) == TESSERA_OK);
  tessera_free(where, t);
  tessera_free(where, x);
}

int main(int count, char** words) {
  level_3(chosen_backend(count, words));
  return failures == 0 ? 0 : 1;
}
