/// psgemm_, pdgemm_, pcgemm_ and pzgemm_ for programs of ScaLAPACK, which use Tessera without being compiled anew. The
/// names with a prefix, such as tessera_pdgemm_, are for programs that call ScaLAPACK's and Tessera's side by side.
///
/// The library finds BLACS in the program, and the communicator of a context through it. A part of a matrix that begins
/// within a block goes to ScaLAPACK's own function, because Tessera's distributions begin with a whole block.

#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend/log.hpp>
#include <tessera/distributed.hpp>

namespace tessera {
namespace {

/// The elements of a descriptor, by the names of ScaLAPACK's manual.
enum Field { Dtype, Ctxt, M, N, Mb, Nb, Rsrc, Csrc, Lld };

/// Finds a function of the program's ScaLAPACK.
template <class Function>
Function* find(const char* name) {
  if (void* found = dlsym(RTLD_DEFAULT, name)) return reinterpret_cast<Function*>(found);
  throw BackendUnavailable(std::string("libtessera_scalapack: the program has no ") + name +
                           "; link it with ScaLAPACK (Debian: libscalapack-openmpi-dev or libscalapack-mpich-dev)");
}

/// A BLACS context with the ranks of its processes in MPI_COMM_WORLD, row by row.
struct Context {
  int rows = 0, cols = 0, row = 0, col = 0;
  std::array<char, sizeof(void*)> world{}; ///< the bytes of the MPI_Comm
  std::vector<int> ranks;
};

Context context_of(int number) {
  Context x;
  find<void(int, int*, int*, int*, int*)>("Cblacs_gridinfo")(number, &x.rows, &x.cols, &x.row, &x.col);
  if (x.row < 0) throw InvalidArgument("p?gemm: this process is not in the context " + std::to_string(number));
  constexpr int no_context = -1, default_system = 0;
  int system = 0;
  find<void(int, int, int*)>("Cblacs_get")(no_context, default_system, &system);
  // An MPI_Comm is a pointer or an int; either is returned in one register, whose first bytes are the handle's.
  const void* handle = find<void*(int)>("Cblacs2sys_handle")(system);
  std::memcpy(x.world.data(), &handle, detail::size_of_communicator());
  const auto cols = static_cast<std::size_t>(x.cols);
  x.ranks.assign(static_cast<std::size_t>(x.rows) * cols, 0);
  x.ranks[static_cast<std::size_t>(x.row) * cols + static_cast<std::size_t>(x.col)] =
      detail::rank_in_communicator({x.world.data(), detail::size_of_communicator()});
  const int count = x.rows * x.cols;
  find<void(int, const char*, const char*, int, int, int*, int, int, int)>("Cigsum2d")(number, "All", " ", count, 1,
                                                                                       x.ranks.data(), count, -1, -1);
  return x;
}

/// Returns the grid of a context, which is made once and kept until the process ends. Contexts of the same processes
/// share it. It is found by ranks of MPI_COMM_WORLD, which all processes know alike: MPI may give the handle of a
/// communicator that was freed to another one, on some of the processes only.
std::shared_ptr<detail::GridState> grid_of(int number) {
  using Key = std::pair<std::vector<int>, int>;
  static std::mutex mutex;
  static auto& grids = *new std::map<Key, std::shared_ptr<detail::GridState>>;
  const Context x = context_of(number);
  const std::lock_guard lock(mutex);
  auto& grid = grids[Key(x.ranks, x.cols)];
  if (grid == nullptr)
    grid = detail::make_grid_of({x.world.data(), detail::size_of_communicator()}, x.ranks, {x.rows, x.cols, 1},
                                default_time_limit);
  return grid;
}

/// A part of a distributed matrix, with first row i and first column j, counted from 1.
struct Part {
  void* data;
  int i, j;
  const int* descriptor;

  /// Throws InvalidArgument for a descriptor without blocks.
  void check() const {
    if (descriptor[Dtype] == 1 && descriptor[Mb] >= 1 && descriptor[Nb] >= 1) return;
    throw InvalidArgument("p?gemm: a descriptor has DTYPE_ = " + std::to_string(descriptor[Dtype]) +
                          ", MB_ = " + std::to_string(descriptor[Mb]) + ", NB_ = " + std::to_string(descriptor[Nb]) +
                          "; they are 1 and more than 0");
  }
  bool begins_with_block() const { return (i - 1) % descriptor[Mb] == 0 && (j - 1) % descriptor[Nb] == 0; }
};

/// Returns how many of `end` indices the coordinate holds.
int held(int end, int block, int coordinate, int source, int count) {
  const int turn = (coordinate - source + count) % count, blocks = end / block, extra = blocks % count;
  return blocks / count * block + (turn < extra ? block : turn == extra ? end % block : 0);
}

template <class T>
DistributedView<T> view_of(const std::shared_ptr<detail::GridState>& grid, const Part& x, int rows, int cols, Op op) {
  const int* d = x.descriptor;
  if (x.i < 1 || x.j < 1 || x.i - 1 + rows > d[M] || x.j - 1 + cols > d[N])
    throw InvalidArgument("p?gemm: " + std::to_string(rows) + "x" + std::to_string(cols) + " elements from (" +
                          std::to_string(x.i) + ", " + std::to_string(x.j) + ") on do not lie in a matrix of " +
                          std::to_string(d[M]) + "x" + std::to_string(d[N]));
  const detail::GridShape shape = detail::shape_of(*grid);
  const int rank = detail::rank_in(*grid), row = rank / shape.cols, col = rank % shape.cols;
  auto* data = static_cast<T*>(x.data);
  if (data != nullptr)
    data += held(x.i - 1, d[Mb], row, d[Rsrc], shape.rows) +
            static_cast<Index>(held(x.j - 1, d[Nb], col, d[Csrc], shape.cols)) * d[Lld];
  const std::array<int, 9> part{1,
                                d[Ctxt],
                                rows,
                                cols,
                                d[Mb],
                                d[Nb],
                                (d[Rsrc] + (x.i - 1) / d[Mb]) % shape.rows,
                                (d[Csrc] + (x.j - 1) / d[Nb]) % shape.cols,
                                d[Lld]};
  return {detail::wrap_distributed(grid, part, data, detail::DistributedTypeOf<T>::value), op};
}

template <class T>
Op op_of(char word) {
  if (word == 'N' || word == 'n') return Op::None;
  if (word == 'T' || word == 't') return Op::Transpose;
  if (word == 'C' || word == 'c') return DistributedComplex<T> ? Op::ConjugateTranspose : Op::Transpose;
  throw InvalidArgument(std::string("p?gemm: TRANS is '") + word + "'; use N, T or C");
}

template <class T>
using Pgemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                   const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*, const int*,
                   const int*, const int*);

/// Returns ScaLAPACK's own function. It comes after this library where the drop-in was loaded first, and before it in a
/// program that was linked with ScaLAPACK first and calls the names with a prefix.
void* scalapacks_own(const char* name) {
  if (void* next = dlsym(RTLD_NEXT, name)) return next;
  void* first = dlsym(RTLD_DEFAULT, name);
  Dl_info found{}, here{};
  dladdr(first, &found);
  dladdr(reinterpret_cast<void*>(&scalapacks_own), &here);
  return found.dli_fbase == here.dli_fbase ? nullptr : first;
}

template <class T>
void multiply(const char* name, const char* trans_a, const char* trans_b, int m, int n, int k, T alpha, const Part& a,
              const Part& b, T beta, const Part& c) try {
  const Op op_a = op_of<T>(*trans_a), op_b = op_of<T>(*trans_b);
  for (const Part* part : {&a, &b, &c}) part->check();
  if (!a.begins_with_block() || !b.begins_with_block() || !c.begins_with_block()) {
    if (log_dispatch()) log_line(std::string(name) + " of a part that begins within a block: ScaLAPACK's own");
    auto* own = reinterpret_cast<Pgemm<T>*>(scalapacks_own(name));
    if (own == nullptr) throw BackendUnavailable("the program has no ScaLAPACK beside libtessera_scalapack");
    return own(trans_a, trans_b, &m, &n, &k, &alpha, static_cast<const T*>(a.data), &a.i, &a.j, a.descriptor,
               static_cast<const T*>(b.data), &b.i, &b.j, b.descriptor, &beta, static_cast<T*>(c.data), &c.i, &c.j,
               c.descriptor);
  }
  const auto grid = grid_of(c.descriptor[Ctxt]);
  const bool flip_a = op_a != Op::None, flip_b = op_b != Op::None;
  const auto view_a = view_of<T>(grid, a, flip_a ? k : m, flip_a ? m : k, op_a);
  const auto view_b = view_of<T>(grid, b, flip_b ? n : k, flip_b ? k : n, op_b);
  const auto view_c = view_of<T>(grid, c, m, n, Op::None);
  detail::gemm(detail::exact_double(alpha), view_a.storage(), op_a, view_b.storage(), op_b, detail::exact_double(beta),
               view_c.storage(), {.engine = "summa", .threads = detail::allows_threads(*grid) ? 0 : 1});
} catch (const std::exception& error) {
  // As ScaLAPACK does: the program ends, because its interface has no way to report an error.
  std::fprintf(stderr, "libtessera_scalapack: %s: %s\n", name, error.what());
  if (auto* abort = reinterpret_cast<void (*)(int, int)>(dlsym(RTLD_DEFAULT, "Cblacs_abort")))
    abort(c.descriptor[Ctxt], 1);
  std::abort();
}

} // namespace
} // namespace tessera

#define TESSERA_PGEMM(exported, name, T)                                                                              \
  extern "C" __attribute__((visibility("default"))) void exported(                                                    \
      const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const T* alpha, const T* a, \
      const int* ia, const int* ja, const int* desc_a, const T* b, const int* ib, const int* jb, const int* desc_b,   \
      const T* beta, T* c, const int* ic, const int* jc, const int* desc_c) {                                         \
    tessera::multiply<T>(name, trans_a, trans_b, *m, *n, *k, *alpha, {const_cast<T*>(a), *ia, *ja, desc_a},           \
                         {const_cast<T*>(b), *ib, *jb, desc_b}, *beta, {c, *ic, *jc, desc_c});                        \
  }

TESSERA_PGEMM(psgemm_, "psgemm_", float)
TESSERA_PGEMM(pdgemm_, "pdgemm_", double)
TESSERA_PGEMM(pcgemm_, "pcgemm_", std::complex<float>)
TESSERA_PGEMM(pzgemm_, "pzgemm_", std::complex<double>)
TESSERA_PGEMM(tessera_psgemm_, "psgemm_", float)
TESSERA_PGEMM(tessera_pdgemm_, "pdgemm_", double)
TESSERA_PGEMM(tessera_pcgemm_, "pcgemm_", std::complex<float>)
TESSERA_PGEMM(tessera_pzgemm_, "pzgemm_", std::complex<double>)
