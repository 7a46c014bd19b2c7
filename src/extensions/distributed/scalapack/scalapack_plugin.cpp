/// Calls ScaLAPACK. TESSERA_MPI_NAME is the MPI that it was built for.

#include <mpi.h>
#include <complex>
#include <cstring>
#include <vector>

#include "scalapack.hpp"

extern "C" {
// ScaLAPACK has no header of its own.
int Csys2blacs_handle(MPI_Comm comm);
void Cfree_blacs_system_handle(int handle);
void Cblacs_gridmap(int* context, int* map, int ld, int rows, int cols);
void Cblacs_gridexit(int context);
void psgemm_(const char*, const char*, const int*, const int*, const int*, const void*, const void*, const int*,
             const int*, const int*, const void*, const int*, const int*, const int*, const void*, void*, const int*,
             const int*, const int*);
decltype(psgemm_) pdgemm_, pcgemm_, pzgemm_;
void psgemr2d_(const int*, const int*, const void*, const int*, const int*, const int*, void*, const int*, const int*,
               const int*, const int*);
decltype(psgemr2d_) pdgemr2d_, pcgemr2d_, pzgemr2d_;
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

/// The functions for a type of elements.
struct Functions {
  decltype(&psgemm_) gemm;
  decltype(&psgemr2d_) copy;
};
constexpr Functions f32{psgemm_, psgemr2d_}, f64{pdgemm_, pdgemr2d_}, complex_f32{pcgemm_, pcgemr2d_},
    complex_f64{pzgemm_, pzgemr2d_};

const Functions& functions_of(tessera::detail::DistributedType type) {
  if (type.is_complex) return type.part == DType::F32 ? complex_f32 : complex_f64;
  return type.part == DType::F32 ? f32 : f64;
}

/// ScaLAPACK's word for an operation.
char word_of(Op op) { return op == Op::None ? 'N' : op == Op::Transpose ? 'T' : 'C'; }

void add_product(const ScalapackProduct& x) {
  static constexpr std::complex<double> double_one = 1; // its first number is the real one
  static constexpr std::complex<float> float_one = 1;
  const void* number_one = x.type.part == DType::F32 ? static_cast<const void*>(&float_one) : &double_one;
  const char a = word_of(x.op_a), b = word_of(x.op_b);
  functions_of(x.type).gemm(&a, &b, &x.m, &x.n, &x.k, number_one, x.a.data, &x.row_a, &x.col_a, x.a.descriptor.data(),
                            x.b.data, &x.row_b, &x.col_b, x.b.descriptor.data(), number_one, x.c.data, &one, &one,
                            x.c.descriptor.data());
}

void copy(tessera::detail::DistributedType type, int rows, int cols, const ScalapackMatrix& from,
          const ScalapackMatrix& to, int context) {
  functions_of(type).copy(&rows, &cols, from.data, &one, &one, from.descriptor.data(), to.data, &one, &one,
                          to.descriptor.data(), &context);
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
