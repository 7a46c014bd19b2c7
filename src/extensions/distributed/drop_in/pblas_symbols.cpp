/// psgemm_, pdgemm_, pcgemm_ and pzgemm_ for programs of ScaLAPACK, which use Tessera without being compiled anew. The
/// names with a prefix, such as tessera_pdgemm_, are for programs that call ScaLAPACK's and Tessera's side by side.
///
/// The library finds BLACS in the program, and the communicator of a context through it. What Tessera does not take
/// goes to ScaLAPACK's own function: a part of a matrix that begins within a block or is replicated, because Tessera's
/// distributions begin with a whole block and have each element once, and arguments that ScaLAPACK refuses.

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
#include <tessera/distributed/distributed.hpp>

#include "descriptor.hpp"
#include "program.hpp"

namespace tessera::drop_in {
namespace {

/// A BLACS context with the ranks of its processes in MPI_COMM_WORLD, row by row.
struct Context : Processes {
  std::array<char, sizeof(void*)> world{}; ///< the bytes of the MPI_Comm
  std::vector<int> ranks;
};

Processes processes_of(const Program& program, int context) {
  Processes x;
  program.find<void(int, int*, int*, int*, int*)>("Cblacs_gridinfo")(context, &x.rows, &x.cols, &x.row, &x.col);
  return x;
}

Context context_of(const Program& program, int number) {
  Context x{processes_of(program, number), {}, {}};
  constexpr int no_context = -1, default_system = 0;
  int system = 0;
  program.find<void(int, int, int*)>("Cblacs_get")(no_context, default_system, &system);
  // An MPI_Comm is a pointer or an int; either is returned in one register, whose first bytes are the handle's.
  const void* handle = program.find<void*(int)>("Cblacs2sys_handle")(system);
  std::memcpy(x.world.data(), &handle, detail::size_of_communicator());
  const auto cols = static_cast<std::size_t>(x.cols);
  x.ranks.assign(static_cast<std::size_t>(x.rows) * cols, 0);
  x.ranks[static_cast<std::size_t>(x.row) * cols + static_cast<std::size_t>(x.col)] =
      detail::rank_in_communicator({x.world.data(), detail::size_of_communicator()});
  const int count = x.rows * x.cols;
  program.find<void(int, const char*, const char*, int, int, int*, int, int, int)>("Cigsum2d")(
      number, "All", " ", count, 1, x.ranks.data(), count, -1, -1);
  return x;
}

/// Returns the grid of a context, which is made once and kept until the process ends. Contexts of the same processes
/// share it. It is found by ranks of MPI_COMM_WORLD, which all processes know alike: MPI may give the handle of a
/// communicator that was freed to another one, on some of the processes only.
std::shared_ptr<detail::GridState> grid_of(const Program& program, int number) {
  using Key = std::pair<std::vector<int>, int>;
  static std::mutex mutex;
  static auto& grids = *new std::map<Key, std::shared_ptr<detail::GridState>>;
  const Context x = context_of(program, number);
  const std::lock_guard lock(mutex);
  auto& grid = grids[Key(x.ranks, x.cols)];
  if (grid == nullptr)
    grid = detail::make_grid_of({x.world.data(), detail::size_of_communicator()}, x.ranks, {x.rows, x.cols, 1},
                                default_time_limit);
  return grid;
}

/// Returns the part as a matrix of its own, whose first block is the part's.
template <class T>
DistributedView<T> view_of(const std::shared_ptr<detail::GridState>& grid, const Part& x, Op op) {
  const Descriptor& d = x.descriptor;
  const detail::GridShape shape = detail::shape_of(*grid);
  const int rank = detail::rank_in(*grid), row = rank / shape.cols, col = rank % shape.cols;
  const int first_row = x.i - 1, first_col = x.j - 1;
  auto* data = static_cast<T*>(x.data);
  if (data != nullptr)
    data +=
        d.rows.held(first_row, row, shape.rows) + static_cast<Index>(d.cols.held(first_col, col, shape.cols)) * d.ld;
  const int row_source = (d.rows.source + d.rows.block_of(first_row)) % shape.rows;
  const int col_source = (d.cols.source + d.cols.block_of(first_col)) % shape.cols;
  // A process without columns may have any LLD_.
  const int rows_here = Dealing{x.m, d.rows.block, d.rows.block, row_source}.held(x.m, row, shape.rows);
  const std::array<int, 9> part{
      1, d.context, x.m, x.n, d.rows.block, d.cols.block, row_source, col_source, std::max(d.ld, rows_here)};
  return {detail::wrap_distributed(grid, part, data, detail::DistributedTypeOf<T>::value), op};
}

/// Returns false for a letter that stands for no operation.
template <class T>
bool read_op(char letter, Op& op) {
  if (letter == 'N' || letter == 'n')
    op = Op::None;
  else if (letter == 'T' || letter == 't')
    op = Op::Transpose;
  else if (letter == 'C' || letter == 'c')
    op = DistributedComplex<T> ? Op::ConjugateTranspose : Op::Transpose;
  else
    return false;
  return true;
}

template <class T>
using Pgemm = void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*,
                   const int*, const int*, const T*, const int*, const int*, const int*, const T*, T*, const int*,
                   const int*, const int*);

/// A call of p?gemm_: its arguments as they were given.
template <class T>
struct Call {
  const char* name;
  const void* caller;
  const char *trans_a, *trans_b;
  const int *m, *n, *k;
  const T *alpha, *a;
  const int *ia, *ja, *desc_a;
  const T* b;
  const int *ib, *jb, *desc_b;
  const T* beta;
  T* c;
  const int *ic, *jc, *desc_c;

  /// Calls ScaLAPACK's own function, which computes the product or says what is wrong as it always does.
  void hand_on(const Program& program, const char* why) const {
    if (log_dispatch()) log_line(std::string(name) + " of " + why + ": ScaLAPACK's own");
    auto* const own = reinterpret_cast<Pgemm<T>*>(program.own(name));
    if (own == nullptr)
      throw BackendUnavailable(
          std::string("the program has no ScaLAPACK beside libtessera_scalapack, which does not take ") + why);
    own(trans_a, trans_b, m, n, k, alpha, a, ia, ja, desc_a, b, ib, jb, desc_b, beta, c, ic, jc, desc_c);
  }

  void run(const Program& program) const {
    if (program.has_wide_integers()) return hand_on(program, "64-bit integers");
    Op op_a = Op::None, op_b = Op::None;
    if (!read_op<T>(*trans_a, op_a) || !read_op<T>(*trans_b, op_b) || *m < 0 || *n < 0 || *k < 0)
      return hand_on(program, "an illegal argument");
    if (*m == 0 || *n == 0 || *k == 0) return hand_on(program, "no elements");
    const bool flip_a = op_a != Op::None, flip_b = op_b != Op::None;
    const Part part_a{const_cast<T*>(a), *ia, *ja, flip_a ? *k : *m, flip_a ? *m : *k, Descriptor(desc_a)};
    const Part part_b{const_cast<T*>(b), *ib, *jb, flip_b ? *n : *k, flip_b ? *k : *n, Descriptor(desc_b)};
    const Part part_c{c, *ic, *jc, *m, *n, Descriptor(desc_c)};
    const int context = part_a.descriptor.context;
    const Processes grid = processes_of(program, context);
    const std::array<const Part*, 3> parts{&part_a, &part_b, &part_c};
    const auto all = [&](auto holds) { return std::all_of(parts.begin(), parts.end(), holds); };
    if (grid.row < 0 || !all([&](const Part* x) { return x->is_legal(context, grid); }))
      return hand_on(program, "an illegal argument");
    if (!all([](const Part* x) { return !x->is_replicated(); })) return hand_on(program, "a replicated part");
    if (!all([](const Part* x) { return x->begins_with_block(); }))
      return hand_on(program, "a part that begins within a block");
    multiply(program, part_a, op_a, part_b, op_b, part_c);
  }

  void multiply(const Program& program, const Part& part_a, Op op_a, const Part& part_b, Op op_b,
                const Part& part_c) const {
    const auto grid = grid_of(program, part_c.descriptor.context);
    const auto view_a = view_of<T>(grid, part_a, op_a);
    const auto view_b = view_of<T>(grid, part_b, op_b);
    const auto view_c = view_of<T>(grid, part_c, Op::None);
    detail::gemm(detail::exact_double(*alpha), view_a.storage(), op_a, view_b.storage(), op_b,
                 detail::exact_double(*beta), view_c.storage(),
                 {.engine = "summa", .threads = detail::allows_threads(*grid) ? 0 : 1});
  }
};

template <class T>
void multiply(const Call<T>& call) try {
  call.run(Program(call.caller));
} catch (const std::exception& error) {
  // The program ends, as it does under ScaLAPACK, because the interface has no way to report an error.
  std::fprintf(stderr, "libtessera_scalapack: %s: %s\n", call.name, error.what());
  if (auto* abort = reinterpret_cast<void (*)(int, int)>(dlsym(RTLD_DEFAULT, "Cblacs_abort")))
    abort(Descriptor(call.desc_c).context, 1);
  std::abort();
}

} // namespace
} // namespace tessera::drop_in

#define TESSERA_PGEMM(exported, name, T)                                                                              \
  extern "C" __attribute__((visibility("default"))) void exported(                                                    \
      const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k, const T* alpha, const T* a, \
      const int* ia, const int* ja, const int* desc_a, const T* b, const int* ib, const int* jb, const int* desc_b,   \
      const T* beta, T* c, const int* ic, const int* jc, const int* desc_c) {                                         \
    tessera::drop_in::multiply<T>({name,    __builtin_return_address(0),                                              \
                                   trans_a, trans_b,                                                                  \
                                   m,       n,                                                                        \
                                   k,       alpha,                                                                    \
                                   a,       ia,                                                                       \
                                   ja,      desc_a,                                                                   \
                                   b,       ib,                                                                       \
                                   jb,      desc_b,                                                                   \
                                   beta,    c,                                                                        \
                                   ic,      jc,                                                                       \
                                   desc_c});                                                                          \
  }

TESSERA_PGEMM(psgemm_, "psgemm_", float)
TESSERA_PGEMM(pdgemm_, "pdgemm_", double)
TESSERA_PGEMM(pcgemm_, "pcgemm_", std::complex<float>)
TESSERA_PGEMM(pzgemm_, "pzgemm_", std::complex<double>)
TESSERA_PGEMM(tessera_psgemm_, "psgemm_", float)
TESSERA_PGEMM(tessera_pdgemm_, "pdgemm_", double)
TESSERA_PGEMM(tessera_pcgemm_, "pcgemm_", std::complex<float>)
TESSERA_PGEMM(tessera_pzgemm_, "pzgemm_", std::complex<double>)
