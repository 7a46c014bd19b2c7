#include "amx_product.hpp"

namespace tessera::cpu::amx {
namespace {

Operand operand_a(const GemmCall& call) { return {call.a, call.lda, call.op_a == Op::None, call.m, call.k}; }
Operand operand_b(const GemmCall& call) { return {call.b, call.ldb, call.op_b == Op::Transpose, call.n, call.k}; }

/// Returns the call's multiply-adds, or the time to fetch its operands in units of multiply-adds, whichever is more.
double work_of(const GemmCall& call) {
  constexpr double fetching = 16;
  const auto m = static_cast<double>(call.m), n = static_cast<double>(call.n), k = static_cast<double>(call.k);
  return std::max(m * n * k, fetching * (m + n) * k);
}

/// least := min(least, value)
void lower(std::atomic<unsigned>& least, unsigned value) {
  unsigned before = least.load(std::memory_order_relaxed);
  while (value < before && !least.compare_exchange_weak(before, value, std::memory_order_relaxed)) {
  }
}

} // namespace

AmxProduct::AmxProduct(CpuExecutor& cpu, const GemmCall& call, const Method& method, Store store)
    : call_(call),
      method_(method),
      store_(store),
      team_(cpu.team()),
      threads_(threads_for(work_of(call), cpu.threads_for(call.threads), method.worth_a_thread)),
      chunks_(ceil_div(call.k, chunk)) {
  const PackedOperand a{operand_a(call), ceil_div(call.m, side), false};
  const PackedOperand b{operand_b(call), ceil_div(call.n, side), true};
  // The smaller operand is streamed. So is A where C has enough columns, because C is then stored along its rows.
  constexpr Index columns_enough = 256;
  const bool streams_a = call.m <= call.n || call.n >= columns_enough;
  streamed_ = streams_a ? a : b;
  resident_ = streams_a ? b : a;
  choose_blocks(cpu.capabilities());
  Carver size;
  carve(size);
  scratch_ = cpu.scratch().acquire(size.used());
  Carver arrays(scratch_.data());
  carve(arrays);
}

/// Chooses blocks of the resident operand that are so long in k that sums rarely leave L2, and have as many
/// strips as then fit L2.
void AmxProduct::choose_blocks(const Capabilities& machine) {
  constexpr Index few_streamed = 4; // strips; beside so few, blocks are short in k and rows are read longer
  const Index longest = (streamed_.strips > few_streamed ? 1024 : 256) / method_.parts;
  const Index runs = std::max<Index>(1, longest / method_.run_k);
  block_chunks_ = std::min(chunks_, runs * method_.run_k / chunk);
  const Index l2 = machine.l2_bytes > 0 ? static_cast<Index>(machine.l2_bytes) : Index{1} << 20;
  const Index bytes = strip_size(block_chunks_) * Index{sizeof(std::uint16_t)};
  const Index most = std::clamp<Index>(l2 * 7 / 20 / bytes, 1, resident_.strips);
  Index blocks = ceil_div(resident_.strips, most);
  Index groups = 1;
  if (threads_ > 1) { // many tasks even out the time that the operating system takes from a thread
    constexpr Index tasks_a_thread = 4, least_group = 512 / side;
    blocks = std::min(resident_.strips, ceil_div(blocks, threads_) * threads_);
    groups = std::clamp<Index>(streamed_.strips / least_group, 1, ceil_div(tasks_a_thread * threads_, blocks));
  }
  block_strips_ = ceil_div(resident_.strips, blocks);
  streamed_strips_per_task_ = ceil_div(streamed_.strips, groups);
  sums_size_ = (chunks_ > block_chunks_ ? streamed_strips_per_task_ : 1) * block_strips_ * side * side;
}

void AmxProduct::carve(Carver& carver) {
  packed_ = carver.take<std::uint16_t>(static_cast<std::size_t>(streamed_.strips * strip_size(chunks_)));
  blocks_ = carver.take<std::uint16_t>(static_cast<std::size_t>(threads_ * block_strips_ * strip_size(block_chunks_)));
  sums_ = carver.take<float>(static_cast<std::size_t>(threads_ * sums_size_));
}

std::uint16_t* AmxProduct::streamed_strip(Index strip, Index first_chunk, Index chunks) const {
  return packed_ + streamed_.strips * strip_size(first_chunk) + strip * strip_size(chunks);
}

/// Packs one line of a block: a strip where the operand lies along k in memory, else a chunk of all strips.
void AmxProduct::pack_line(const Block& block, Index line, std::uint16_t* to) {
  const bool along_k = block.side.x.along_k;
  const Index strip = along_k ? line : 0, number = along_k ? 0 : line;
  const unsigned least =
      method_.pack(block.side.x, block.first_strip + strip, block.first_chunk + number,
                   along_k ? block.chunks : block.strips, block.side.of_b,
                   to + strip * strip_size(block.chunks) + strip_size(number), strip_size(along_k ? 1 : block.chunks));
  lower(least_[block.side.of_b], least);
}

void AmxProduct::pack_streamed() {
  for (Index first = 0; first < chunks_; first += block_chunks_) {
    const Block block{streamed_, 0, streamed_.strips, first, std::min(block_chunks_, chunks_ - first)};
    team_.run(block.lines(), threads_,
              [&](Index line, int) { pack_line(block, line, streamed_strip(0, first, block.chunks)); });
  }
}

/// Packs the resident operand only to learn its magnitudes. It is called where C's old values are needed: C must not be
/// written then before all elements are known to fit the tiles.
void AmxProduct::scan_resident() {
  team_.run(resident_.strips, threads_, [&](Index strip, int slot) {
    for (Index first = 0; first < chunks_; first += block_chunks_)
      pack_block({resident_, strip, 1, first, std::min(block_chunks_, chunks_ - first)},
                 blocks_ + slot * block_strips_ * strip_size(block_chunks_));
  });
}

void AmxProduct::pack_block(const Block& block, std::uint16_t* to) {
  for (Index line = 0; line < block.lines(); ++line) pack_line(block, line, to);
}

bool AmxProduct::run() {
  pack_streamed();
  if (call_.beta != 0) scan_resident();
  if (!fits()) return false;
  const Index groups = ceil_div(streamed_.strips, streamed_strips_per_task_);
  team_.run(ceil_div(resident_.strips, block_strips_) * groups, threads_, [&](Index number, int slot) {
    const Index first = number / groups * block_strips_, from = number % groups * streamed_strips_per_task_;
    compute({first, std::min(block_strips_, resident_.strips - first), from,
             std::min(from + streamed_strips_per_task_, streamed_.strips),
             blocks_ + slot * block_strips_ * strip_size(block_chunks_), sums_ + slot * sums_size_});
  });
  return fits();
}

void AmxProduct::compute(const Task& task) {
  configure(static_cast<int>(std::min<Index>(call_.m, tile_rows)));
  for (Index first = 0; first < chunks_; first += block_chunks_) {
    const Index chunks = std::min(block_chunks_, chunks_ - first);
    pack_block({resident_, task.first, task.strips, first, chunks}, task.packed);
    if (!fits()) break;
    for (Index strip = task.from; strip < task.to; ++strip) {
      multiply_strip(task, strip, first, chunks);
      if (first + chunks == chunks_) store_strip(task, strip);
    }
  }
  release();
}

/// Multiplies one strip of the streamed operand by all strips of the task. A run of k of the streamed strip stays in L1
/// meanwhile.
void AmxProduct::multiply_strip(const Task& task, Index strip, Index first_chunk, Index chunks) {
  const bool streams_a = !streamed_.of_b;
  const std::uint16_t* const near = streamed_strip(strip, first_chunk, chunks);
  float* const sums = sums_of(task, strip);
  const Index ld = streams_a ? task.strips * side : side;
  const Index next_square = streams_a ? side : side * side;

  constexpr Index line = 64 / sizeof(std::uint16_t);
  const Index next_strip = strip + 1 < task.to ? strip_size(chunks) / line : 0; // cache lines
  const Index lines = ceil_div(next_strip, chunks * task.strips);
  const auto* ahead = reinterpret_cast<const char*>(near + strip_size(chunks));

  const auto is_wide = [](const PackedOperand& of, Index number) { return of.x.outer - number * side > tile_rows; };
  const bool near_wide = is_wide(streamed_, strip);
  const Index run = method_.run_k / chunk;
  for (Index c = 0; c < chunks; c += run) {
    const Index length = std::min(run, chunks - c);
    const bool first = first_chunk + c == 0;
    const std::uint16_t* const near_run = near + strip_size(c);
    for (Index s = 0; s < task.strips; ++s) {
      const std::uint16_t* const far = task.packed + s * strip_size(chunks) + strip_size(c);
      const bool far_wide = is_wide(resident_, task.first + s);
      const bool last = s + 1 == task.strips;
      const Ahead soon{ahead, static_cast<int>(lines), last ? sums : sums + (s + 1) * next_square,
                       first ? 0 : static_cast<int>(ceil_div<Index>(side, length))};
      float* const square = sums + s * next_square;
      if (streams_a)
        method_.multiply[true][near_wide][far_wide](near_run, far, length, square, ld, first, soon);
      else
        method_.multiply[false][far_wide][near_wide](far, near_run, length, square, ld, first, soon);
      ahead += 64 * lines * length;
    }
  }
}

void AmxProduct::store_strip(const Task& task, Index strip) {
  const bool streams_a = !streamed_.of_b;
  const Index i = (streams_a ? strip : task.first) * side;
  const Index j = (streams_a ? task.first : strip) * side;
  const Index rows = std::min((streams_a ? 1 : task.strips) * side, call_.m - i);
  const Index cols = std::min((streams_a ? task.strips : 1) * side, call_.n - j);
  store_(call_, i, j, rows, cols, sums_of(task, strip), streams_a ? task.strips * side : side);
  stored_.store(true, std::memory_order_relaxed);
}

} // namespace tessera::cpu::amx
