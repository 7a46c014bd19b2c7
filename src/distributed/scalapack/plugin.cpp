/// Calls ScaLAPACK. TESSERA_MPI_NAME is the MPI that it was built for.

#include <mpi.h>
#include <cstring>
#include <vector>

#include "scalapack.hpp"

extern "C" {
// ScaLAPACK has no header of its own.
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int* context, int* map, int ld, int rows, int cols);
void Cblacs_gridexit(int context);
void psgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const void*, const int*,
             const int*, const int*, const void*, const int*, const int*, const int*, const float*, void*, const int*,
             const int*, const int*);
void pdgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const void*, const int*,
             const int*, const int*, const void*, const int*, const int*, const int*, const double*, void*, const int*,
             const int*, const int*);
void psgemr2d_(const int*, const int*, const void*, const int*, const int*, const int*, void*, const int*, const int*,
               const int*, const int*);
void pdgemr2d_(const int*, const int*, const void*, const int*, const int*, const int*, void*, const int*, const int*,
               const int*, const int*);
}

namespace tessera::distributed {
namespace {

constexpr int one = 1;

int make_context(const void* handle, int rows, int cols, int row_stride, int col_stride) {
  MPI_Comm comm;
  std::memcpy(&comm, handle, sizeof comm); // NOLINT(bugprone-sizeof-expression): a pointer in Open MPI
  const int system = Csys2blacs_handle(comm);
  std::vector<int> map; // column by column
  for (int col = 0; col < cols; ++col)
    for (int row = 0; row < rows; ++row) map.push_back(row * row_stride + col * col_stride);
  int context = system;
  Cblacs_gridmap(&context, map.data(), rows, rows, cols);
  Cfree_blacs_system_handle(system);
  return context;
}

void end_context(int context) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun != 0 && ended == 0 && context >= 0) Cblacs_gridexit(context);
}

template <class T, class Function>
void call_gemm(Function* gemm, const ScalapackProduct& x) {
  const T number_one = 1;
  const char a = x.transpose_a ? 'T' : 'N', b = x.transpose_b ? 'T' : 'N';
  gemm(&a, &b, &x.m, &x.n, &x.k, &number_one, x.a.data, &x.row_a, &x.col_a, x.a.descriptor.data(), x.b.data, &x.row_b,
       &x.col_b, x.b.descriptor.data(), &number_one, x.c.data, &one, &one, x.c.descriptor.data());
}

void add_product(const ScalapackProduct& product) {
  if (product.type == DType::F32) return call_gemm<float>(psgemm_, product);
  call_gemm<double>(pdgemm_, product);
}

void copy(DType type, int rows, int cols, const ScalapackMatrix& from, const ScalapackMatrix& to, int context) {
  const auto move = type == DType::F32 ? psgemr2d_ : pdgemr2d_;
  move(&rows, &cols, from.data, &one, &one, from.descriptor.data(), to.data, &one, &one, to.descriptor.data(),
       &context);
}

constexpr ScalapackInfo info{sizeof(ScalapackInfo), scalapack_plugin_abi_version,
                             TESSERA_BUILD_TAG,     TESSERA_MPI_NAME,
                             make_context,          end_context,
                             add_product,           copy};

} // namespace
} // namespace tessera::distributed

extern "C" __attribute__((visibility("default"))) const tessera::distributed::ScalapackInfo*
tessera_scalapack_plugin() noexcept {
  return &tessera::distributed::info;
}
