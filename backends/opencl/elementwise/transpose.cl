// Transposition through local memory, so that a work-group both reads and writes neighbouring elements. A group moves a
// tile of 16x16; the tile's rows are one element longer than needed, so that a column of it lies in different banks.
// Z is any type of an element's size. Source: Ruetsch and Micikevicius, "Optimizing matrix transpose in CUDA" (2009).
#define TILE 16

__kernel void transpose(const long rows, const long cols, __global const Z* x, const long x_at, const long ldx,
                        __global Z* z, const long z_at, const long ldz) {
  __local Z tile[TILE][TILE + 1];
  const int across = get_local_id(0), down = get_local_id(1);
  const long first_col = get_group_id(0) * (long)TILE, first_row = get_group_id(1) * (long)TILE;
  if (first_col + down < cols && first_row + across < rows)
    tile[down][across] = x[x_at + (first_col + down) * ldx + first_row + across]; // a row of x is a column of z
  barrier(CLK_LOCAL_MEM_FENCE);
  if (first_row + down < rows && first_col + across < cols)
    z[z_at + (first_row + down) * ldz + first_col + across] = tile[across][down];
}
