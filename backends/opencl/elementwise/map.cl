// The operations of MapCall that compute each element independently of the others. They round where the reference
// rounds. Z is the type of z and y, X the one of x, and REAL the one that is computed in.
#pragma OPENCL FP_CONTRACT OFF

#define ROWS(i) for (long i = get_global_id(1); i < rows; i += get_global_size(1))

__kernel void fill(const long rows, const long cols, const REAL alpha, __global Z* z, const long z_at, const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  ROWS(i) z[z_at + i * ldz + j] = STORE_Z(alpha);
}

__kernel void identity(const long rows, const long cols, const REAL alpha, __global Z* z, const long z_at,
                       const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  ROWS(i) z[z_at + i * ldz + j] = STORE_Z(i == j ? alpha : (REAL)0);
}

__kernel void scale(const long rows, const long cols, const REAL alpha, __global const Z* x, const long x_at,
                    const long ldx, __global Z* z, const long z_at, const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  ROWS(i) z[z_at + i * ldz + j] = STORE_Z(alpha * LOAD_Z(x[x_at + i * ldx + j]));
}

__kernel void axpby(const long rows, const long cols, const REAL alpha, __global const Z* x, const long x_at,
                    const long ldx, const REAL beta, __global const Z* y, const long y_at, const long ldy,
                    __global Z* z, const long z_at, const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  ROWS(i) {
    const REAL scaled = alpha * LOAD_Z(x[x_at + i * ldx + j]);
    z[z_at + i * ldz + j] = STORE_Z(fma(beta, LOAD_Z(y[y_at + i * ldy + j]), scaled));
  }
}

__kernel void multiply(const long rows, const long cols, __global const Z* x, const long x_at, const long ldx,
                       __global const Z* y, const long y_at, const long ldy, __global Z* z, const long z_at,
                       const long ldz) {
  const long j = get_global_id(0);
  if (j >= cols) return;
  ROWS(i) z[z_at + i * ldz + j] = STORE_Z(LOAD_Z(x[x_at + i * ldx + j]) * LOAD_Z(y[y_at + i * ldy + j]));
}
