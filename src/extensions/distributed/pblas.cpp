/// pblas: ScaLAPACK's p?gemm, unchanged, once for each segment of 1024 k (512 complex k). If the blocks along k are
/// multiples of it, a segment lies in one process row or column, and ScaLAPACK multiplies all of it in one local
/// product, which is Tessera's. Otherwise p?gemr2d copies the operand to such blocks first.
///
/// ScaLAPACK knows column-major elements; row-major ones are a column-major transpose on the transposed grid. For small
/// m or n it adds zeros of the ranks that hold nothing of the segment, which changes the sign of a sum that is −0. A
/// sum is −0 only if products underflow, so tiny elements are rejected. For the same shapes it may compute a transpose,
/// so complex products are rejected there (scalapack/algorithm.hpp). A product of each type is tried once on each
/// grid, because another BLAS, or another ScaLAPACK, adds in another order.
///
/// Source: Choi, Dongarra, Walker, PB-BLAS and ScaLAPACK, 1996.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <tessera/backend.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "dealt.hpp"
#include "find_mpi.hpp"
#include "operands.hpp"
#include "scalapack/algorithm.hpp"
#include "stored_rows.hpp"

namespace tessera::distributed {
namespace {

using tessera::detail::DistributedStorage;
using tessera::detail::GridState;

constexpr int dense_matrix = 1; ///< DTYPE_ of a descriptor

ScalapackMatrix described(const Dealt& x, int context) {
  const auto number = [](Index value) { return static_cast<int>(value); };
  return {x.data,
          {dense_matrix, context, number(x.rows.size), number(x.cols.size), number(x.rows.block), number(x.cols.block),
           x.rows.source, x.cols.source, number(std::max<Index>(1, x.ld))}};
}

bool needs_copy(const Axis& k, Index segment) { return k.count > 1 && k.block % segment != 0; }

/// The coordinate of this rank on an axis of the grid.
int coordinate(const GridState& grid, const Axis& axis) {
  return axis.count == 1 ? 0 : grid.world->rank() / axis.stride % axis.count;
}

class PblasRun final : public EngineRun {
 public:
  PblasRun(const DistributedProduct& product, const ScalapackInfo& scalapack, int context)
      : product_(product), scalapack_(scalapack), context_(context), a_(aligned(product.a)), b_(aligned(product.b)) {}

  std::size_t bytes() const noexcept override {
    return HostBuffers::rounded(a_.bytes) + HostBuffers::rounded(b_.bytes);
  }
  std::size_t device_bytes() const noexcept override { return 0; }
  std::optional<std::uint64_t> bytes_expected() const noexcept override { return {}; } // ScaLAPACK does not count
  Status allocate(HostBuffers& buffers, char* sums) override {
    sums_ = sums;
    if (Status status = buffers.allocate(a_.bytes, a_.to.data); !status.ok()) return status;
    return buffers.allocate(b_.bytes, b_.to.data);
  }
  Status run(DistributedReport& report) override;
  /// Does ScaLAPACK keep C in its place, for every segment?
  bool keeps_c() const noexcept;

 private:
  /// An operand, and its copy with blocks of a segment where it needs one.
  struct Aligned {
    Dealt from, to;
    bool k_is_row, conjugated;
    bool copied = false;
    std::size_t bytes = 0;
  };
  Aligned aligned(const Source& source) const;
  /// In one local order, which reject() demands, a conjugate operand is a transposed one.
  static Op op_of(const Aligned& x, bool transposed) {
    return x.conjugated ? Op::ConjugateTranspose : transposed ? Op::Transpose : Op::None;
  }
  void copy(Aligned& x) const;

  const DistributedProduct product_;
  const ScalapackInfo& scalapack_;
  const int context_;
  Aligned a_, b_;
  char* sums_ = nullptr;
};

PblasRun::Aligned PblasRun::aligned(const Source& source) const {
  Aligned x{dealt(source), dealt(source), k_is_row(source), source.conjugated};
  Axis& k = x.k_is_row ? x.to.rows : x.to.cols;
  const Index segment = product_.segments.length;
  if (!needs_copy(k, segment)) return x;
  k.block = segment;
  k.source = 0;
  x.copied = true;
  if (context_ >= 0) {
    const Index rows = x.to.rows.held(coordinate(product_.grid, x.to.rows));
    x.to.ld = std::max<Index>(1, rows);
    x.bytes =
        static_cast<std::size_t>(rows * x.to.cols.held(coordinate(product_.grid, x.to.cols))) * product_.type.bytes();
  }
  return x;
}

void PblasRun::copy(Aligned& x) const {
  if (!x.copied) {
    x.to.data = x.from.data;
    return;
  }
  scalapack_.copy(product_.type, static_cast<int>(x.from.rows.size), static_cast<int>(x.from.cols.size),
                  described(x.from, context_), described(x.to, context_), context_);
}

bool PblasRun::keeps_c() const noexcept {
  const bool columns = product_.order == LocalOrder::ColumnMajor;
  const Aligned &left = columns ? a_ : b_, &right = columns ? b_ : a_;
  const Axis &rows = columns ? product_.rows : product_.cols, &cols = columns ? product_.cols : product_.rows;
  const auto keeps = [&](Index k) {
    return k == 0 || ScalapackEstimate{left.k_is_row,
                                       !right.k_is_row,
                                       {.m = rows.size, .n = cols.size, .k = k},
                                       rows.count,
                                       cols.count,
                                       {left.to.rows.block, left.to.cols.block},
                                       {right.to.rows.block, right.to.cols.block},
                                       {rows.block, cols.block}}
                         .keeps_c();
  };
  const Index segment = product_.segments.length;
  return keeps(std::min(segment, product_.shape.k)) && keeps(product_.shape.k % segment);
}

Status PblasRun::run(DistributedReport& report) {
  if (context_ < 0) return {};
  const measure::HostStopwatch watch;
  copy(a_);
  copy(b_);
  std::fill_n(sums_, product_.sums_bytes(), char{0});
  // A column-major C is op(A)·op(B). A row-major one is a column-major Cᵀ = op(B)ᵀ·op(A)ᵀ.
  const bool columns = product_.order == LocalOrder::ColumnMajor;
  const Aligned &left = columns ? a_ : b_, &right = columns ? b_ : a_;
  const Dealt sums = dealt_sums(product_, sums_);
  ScalapackProduct call{.type = product_.type,
                        .op_a = op_of(left, left.k_is_row),
                        .op_b = op_of(right, !right.k_is_row),
                        .m = static_cast<int>(sums.rows.size),
                        .n = static_cast<int>(sums.cols.size),
                        .k = 0,
                        .a = described(left.to, context_),
                        .b = described(right.to, context_),
                        .c = described(sums, context_),
                        .row_a = 1,
                        .col_a = 1,
                        .row_b = 1,
                        .col_b = 1};
  const Index segment = product_.segments.length;
  for (Index first = 0; first < product_.shape.k; first += segment) {
    call.k = static_cast<int>(std::min(segment, product_.shape.k - first));
    (left.k_is_row ? call.row_a : call.col_a) = static_cast<int>(first + 1);
    (right.k_is_row ? call.row_b : call.col_b) = static_cast<int>(first + 1);
    scalapack_.add_product(call);
  }
  report.seconds_multiplying = watch.seconds(); // with the transfers, which are within ScaLAPACK
  return {};
}

/// Makes the context for the order of local elements at its first use. All ranks call it.
int context_of(const DistributedProduct& product, const ScalapackInfo& scalapack) {
  auto& grid = const_cast<GridState&>(product.grid);
  std::optional<int>& context = grid.scalapack.contexts[static_cast<int>(product.order)];
  if (!context) {
    const auto [rows, cols, layers] = grid.shape;
    context = product.order == LocalOrder::ColumnMajor
                  ? scalapack.make_context(grid.world->native(), rows, cols, cols, 1)
                  : scalapack.make_context(grid.world->native(), cols, rows, 1, cols);
  }
  return *context;
}

/// Is there an element so small that a product of two, or a sum with one, may be rounded to −0?
template <class T>
bool has_tiny(const Source& x, Index outer, Index inner, Index parts) {
  constexpr int least = (std::numeric_limits<T>::min_exponent + std::numeric_limits<T>::digits) / 2 + 1;
  const T limit = std::ldexp(T{1}, least);
  const T* data = reinterpret_cast<const T*>(x.elements.data);
  for (Index o = 0; o < outer; ++o)
    for (Index i = 0; i < inner; ++i) {
      const T* element = data + parts * (o * x.elements.outer_step + i * x.elements.inner_step);
      for (Index part = 0; part < parts; ++part)
        if (const T value = std::abs(element[part]); value > 0 && value < limit) return true;
    }
  return false;
}

bool has_tiny(const DistributedProduct& product, const Source& x) {
  const auto at = coordinates_of(x.spread, product.grid.world->rank());
  if (!at) return false;
  const Index outer = x.spread.outer.held(at->outer), inner = x.spread.inner.held(at->inner);
  const Index parts = product.type.is_complex ? 2 : 1;
  return visit_scalar(product.type.part,
                      [&]<class T>(std::type_identity<T>) { return has_tiny<T>(x, outer, inner, parts); });
}

/// Computes the sums by an engine, for a trial.
std::vector<char> trial_sums(const DistributedProduct& product, EngineRun& run) {
  const std::size_t bytes = product.sums_bytes();
  HostBuffers buffers;
  char* sums = nullptr;
  bool changed = false;
  throw_if_failed(run.reserve(changed));
  throw_if_failed(buffers.allocate(bytes, sums));
  throw_if_failed(run.allocate(buffers, sums));
  DistributedReport report;
  throw_if_failed(run.run(report));
  return {sums, sums + bytes};
}

/// Multiplies random numbers on the grid by ScaLAPACK and by summa. Returns why ScaLAPACK cannot be used; empty where
/// the bits are equal on all ranks.
std::string try_order_of_sums(const DistributedProduct& wanted, const ScalapackInfo& scalapack) {
  const GridState& grid = wanted.grid;
  const Index m = 40 * grid.shape.rows, n = 24 * grid.shape.cols, k = wanted.segments.length + 100;
  const auto make = [&](Index rows, Index cols, Blocks blocks) {
    auto x = std::make_shared<DistributedStorage>();
    x->grid = {std::shared_ptr<void>(), const_cast<GridState*>(&grid)};
    x->type = wanted.type;
    x->rows = rows;
    x->cols = cols;
    x->blocks = blocks;
    x->order = wanted.order;
    if (grid.world->rank() < grid.layer_size()) {
      x->local_rows = grid.row_axis(*x).held(grid.row_of_rank());
      x->local_cols = grid.col_axis(*x).held(grid.col_of_rank());
    }
    x->ld = std::max<Index>(1, stored_rows(*x).cols);
    return x;
  };
  const auto a = make(m, k, {8, wanted.segments.length}), b = make(k, n, {wanted.segments.length, 8}),
             c = make(m, n, {8, 8});
  std::vector<char> memory[2];
  std::mt19937 generator(static_cast<unsigned>(grid.world->rank()));
  std::uniform_real_distribution<double> uniform(0.5, 1.0);
  for (int i = 0; i < 2; ++i) {
    DistributedStorage& x = i == 0 ? *a : *b;
    memory[i].resize(static_cast<std::size_t>(x.local_rows * x.local_cols) * x.type.bytes());
    x.data = memory[i].data();
    visit_scalar(x.type.part, [&]<class T>(std::type_identity<T>) {
      std::generate_n(static_cast<T*>(x.data), memory[i].size() / sizeof(T),
                      [&] { return static_cast<T>(uniform(generator)); });
    });
  }
  const DistributedProduct product{.grid = grid,
                                   .type = wanted.type,
                                   .shape = {.m = m, .n = n, .k = k},
                                   .a = source_of(*a, true),
                                   .b = source_of(*b, false),
                                   .rows = grid.row_axis(*c),
                                   .cols = grid.col_axis(*c),
                                   .order = wanted.order,
                                   .segments = Segments(k, 1, wanted.segments.length),
                                   .local_rows = c->local_rows,
                                   .local_cols = c->local_cols,
                                   .threads = 1,
                                   .executor = &executor(Backend::Reference)};
  PblasRun by_scalapack(product, scalapack, context_of(product, scalapack));
  const bool equal = trial_sums(product, *summa.make(product)) == trial_sums(product, by_scalapack);
  if (!anywhere(product, !equal)) return {};
  return "ScaLAPACK's local products have another order of sums; the program has loaded another BLAS before Tessera's";
}

std::string reject(const DistributedProduct& product) {
  const GridState& grid = product.grid;
  if (is_16_bit(product.type.part)) return "ScaLAPACK has no elements of 16 bits";
  if (grid.shape.layers > 1) return "ScaLAPACK has no layers";
  if (anywhere(product, product.backend != Backend::Auto))
    return "its local products go through the BLAS drop-in, which chooses the backend; name none";
  if (product.a_order != product.order || product.b_order != product.order)
    return "the local orders of a, b and c differ";
  if (std::max({product.shape.m, product.shape.n, product.shape.k}) >
      std::numeric_limits<int>::max() - canonical_segment)
    return "a size is beyond the integers of ScaLAPACK";
  const ScalapackInfo* scalapack = nullptr;
  std::string why;
  try {
    scalapack = &load_scalapack();
  } catch (const BackendUnavailable& error) {
    why = error.what();
  }
  if (anywhere(product, scalapack == nullptr))
    return why.empty() ? "another rank cannot load the plug-in for ScaLAPACK" : why;
  if (anywhere(product, has_tiny(product, product.a) || has_tiny(product, product.b)))
    return "elements are so small that sums may be −0, whose sign ScaLAPACK does not keep";
  if (product.type.is_complex && !PblasRun(product, *scalapack, context_of(product, *scalapack)).keeps_c())
    return "ScaLAPACK may compute the transpose of so narrow a complex product, which adds in another order";
  auto& known = const_cast<GridState&>(grid)
                    .scalapack.why_not[(product.type.part == DType::F32 ? 0 : 1) + (product.type.is_complex ? 2 : 0)];
  if (!known) known = try_order_of_sums(product, *scalapack);
  return *known;
}

} // namespace

const Engine pblas{{.name = "pblas",
                    .summary = "ScaLAPACK's p?gemm for each segment of k, with Tessera's local products",
                    .source = "Choi, Dongarra and Walker 1996; Reference ScaLAPACK"},
                   reject,
                   [](const DistributedProduct& product) -> std::unique_ptr<EngineRun> {
                     const ScalapackInfo& scalapack = load_scalapack();
                     return std::make_unique<PblasRun>(product, scalapack, context_of(product, scalapack));
                   }};

} // namespace tessera::distributed
