/// summa: C stays where it is; panels of one segment of k, in ascending order, are broadcast along the process rows and
/// columns, and each rank adds their product to its sums. The next panels are under way while one is multiplied.
///
/// Layers share out the segments. The running sums go from layer to layer, strip by strip: a layer adds its segments
/// to a strip and hands it on, while the next strip is multiplied. A reduction would promise no order.
///
/// Where a rank's device has no memory for its sums, the rank cuts them into blocks (local/sum_blocks.hpp), which
/// changes nothing for the other ranks: it takes part in the same broadcasts in the same order.
///
/// Source: van de Geijn and Watts, SUMMA: scalable universal matrix multiplication algorithm, 1997, in SLATE's form
/// with a stationary C; Solomonik and Demmel, 2.5D matrix multiplication, 2011, for the layers.

#include <algorithm>

#include <tessera/detail/stopwatch.hpp>

#include "engines.hpp"
#include "local/local_product.hpp"
#include "local/sum_memory.hpp"

namespace tessera::distributed {
namespace {

constexpr int tag_of_sums = 3;

/// With layers, rows of the sums that are handed on at once are at least `least_strip`, in at most `most_strips` parts.
constexpr Index least_strip = 64, most_strips = 8;
/// MPI goes on with transfers between parts of a local product. Smaller parts would make the product slower.
constexpr Index least_part = 256, most_parts = 4;

Index parts_of(Index rows, Index least, Index most) { return std::clamp<Index>(rows / least, 1, most); }

class SummaRun final : public EngineRun {
 public:
  explicit SummaRun(const DistributedProduct& product)
      : product_(product),
        by_columns_(product.order == LocalOrder::ColumnMajor),
        layered_(product.segments.working_layers > 1),
        a_(product.grid, true, product.a, product.rows, product.segments, product.type, *product.executor,
           product.device_messages),
        b_(product.grid, false, product.b, product.cols, product.segments, product.type, *product.executor,
           product.device_messages),
        rows_(by_columns_ ? product.local_cols : product.local_rows),
        cols_(by_columns_ ? product.local_rows : product.local_cols),
        layer_(product.grid.layer()),
        works_(product.grid.has_place() && layer_ < product.segments.working_layers),
        local_(*product.executor, product.type, std::min(product.shape.k, product.segments.length), product.threads,
               {by_columns_ ? b_.on_device() : a_.on_device(), by_columns_ ? a_.on_device() : b_.on_device()}),
        memory_(
            {product.executor, product.type.is_complex, product.device_messages, layered_, product.segments.steps()},
            {rows_, cols_, (rows_ + strips() - 1) / strips(), cols_}, local_, a_, b_) {}

  std::size_t bytes() const noexcept override { return a_.bytes() + b_.bytes(); }
  std::size_t device_bytes() const noexcept override { return memory_.device_bytes(); }
  bool reads_on_device(bool of_a) const noexcept override { return (of_a ? a_ : b_).reads_on_device(); }
  bool leaves_sums_on_device() const noexcept override {
    return product_.c_stays && !layered_ && !memory_.blocks().several();
  }
  bool copies_sums_often() const noexcept override { return memory_.group() < product_.segments.steps(); }
  RunningSums sums_on_device() const noexcept override { return local_.sums_on_device(); }
  std::optional<std::uint64_t> bytes_expected() const noexcept override {
    return a_.bytes_expected() + b_.bytes_expected() +
           (receives_sums() ? static_cast<std::uint64_t>(sums_bytes(rows_)) : 0);
  }
  Status reserve(bool& changed) override { return memory_.reserve(changed); }
  Status allocate(HostBuffers& buffers, char* sums) override {
    sums_ = sums;
    coming_.resize(static_cast<std::size_t>(strips()));
    for (Requests& requests : coming_) requests.reserve(requests_of(sums_bytes(rows_)));
    handing_on_.reserve(coming_.size() * requests_of(sums_bytes(rows_)));
    if (Status status = a_.allocate(buffers); !status.ok()) return status;
    local_.set_sums(sums);
    return b_.allocate(buffers);
  }
  Status run(DistributedReport& report) override;
  void abandon() noexcept override {
    a_.abandon();
    b_.abandon();
  }

 private:
  bool receives_sums() const noexcept { return works_ && layer_ + 1 < product_.segments.working_layers; }
  std::size_t sums_bytes(Index rows) const noexcept {
    return static_cast<std::size_t>(rows * cols_) * product_.type.sum_bytes();
  }
  Index strip_begin(Index strip) const noexcept { return rows_ * strip / strips(); }
  Index strips() const noexcept { return layered_ ? parts_of(rows_, least_strip, most_strips) : 1; }

  Index rows_of(Index strip) const noexcept { return strip_begin(strip + 1) - strip_begin(strip); }
  char* sums_of(Index strip) const noexcept { return sums_ + sums_bytes(strip_begin(strip)); }

  Status run_flat();
  Status run_layered();
  Status gather_panels();
  /// Waits until the panels whose memory is used next were copied to a device, or read there.
  void free_slots();
  Status begin_move(Index step);
  Status begin_broadcast(Index step);
  /// Multiplies the panels of a step with the first block, and at the end of a group of segments all panels of the
  /// group with the other blocks. `turn` counts the steps in the order in which they are multiplied.
  Status multiply_group(Index turn, Index step);
  Status end_broadcast(Index step);
  /// Multiplies the panels of a step with the block that began, which has so many rows.
  Status multiply(Index step, Index rows);
  Status progress();
  /// Runs what waits for other ranks, and counts the time.
  template <class Wait>
  Status waiting(Wait&& wait);
  /// Keeps the first failure of a local product; the transfers go on.
  template <class Work>
  void locally(Work&& work);

  const DistributedProduct product_;
  const bool by_columns_, layered_;
  Panels a_, b_;
  const Index rows_, cols_; ///< of the sums as they lie in memory
  const int layer_;
  const bool works_;
  LocalProduct local_;
  SumMemory memory_;
  char* sums_ = nullptr;
  std::vector<Requests> coming_; ///< by strip of the sums
  Requests handing_on_;
  Traffic traffic_of_sums_;
  double seconds_waiting_ = 0, seconds_multiplying_ = 0;
  Status local_failure_;
};

template <class Wait>
Status SummaRun::waiting(Wait&& wait) {
  const measure::HostStopwatch watch;
  Status status = wait();
  seconds_waiting_ += watch.seconds();
  return status;
}

template <class Work>
void SummaRun::locally(Work&& work) {
  if (!local_failure_.ok()) return;
  const measure::HostStopwatch watch;
  local_failure_ = work();
  seconds_multiplying_ += watch.seconds();
}

void SummaRun::free_slots() {
  locally([&] { return local_.wait_for_copies(); });
  if (product_.device_messages) locally([&] { return local_.wait_for_earlier(); });
}

Status SummaRun::begin_move(Index step) {
  if (Status status = a_.begin_move(step); !status.ok()) return status;
  return b_.begin_move(step);
}
Status SummaRun::begin_broadcast(Index step) {
  free_slots();
  if (Status status = a_.end_move_and_begin_broadcast(step); !status.ok()) return status;
  return b_.end_move_and_begin_broadcast(step);
}
Status SummaRun::end_broadcast(Index step) {
  if (product_.device_messages || a_.unpacks(step) || b_.unpacks(step)) free_slots();
  if (Status status = a_.end_broadcast(step); !status.ok()) return status;
  return b_.end_broadcast(step);
}
Status SummaRun::progress() {
  if (Status status = a_.progress(); !status.ok()) return status;
  return b_.progress();
}

Status SummaRun::multiply(Index step, Index rows) {
  const Window window = product_.segments.window(layer_, step);
  if (!works_ || window.size() == 0) return {};
  const Panel a = a_.panel(step), b = b_.panel(step);
  locally([&] { return local_.begin_segment(by_columns_ ? b : a, by_columns_ ? a : b, window.size()); });
  // A device multiplies while the host waits for MPI, so that parts would only make its products smaller.
  const bool in_parts = product_.executor->capabilities().host_memory && (a_.pending() || b_.pending());
  const Index parts = in_parts ? parts_of(rows, least_part, most_parts) : 1;
  for (Index part = 0; part < parts; ++part) {
    const Index first = rows * part / parts, end = rows * (part + 1) / parts;
    locally([&] { return local_.multiply(first, end - first); });
    if (part + 1 < parts)
      if (Status status = waiting([&] { return progress(); }); !status.ok()) return status;
  }
  locally([&] { return local_.end_segment(); });
  return {};
}

Status SummaRun::multiply_group(Index turn, Index step) {
  const Index group = memory_.group(), first = turn - turn % group;
  const bool is_last = turn + 1 == std::min(first + group, product_.segments.steps()), has_sums = first > 0;
  const tessera::detail::BlockGrid blocks = memory_.blocks().of_rows(rows_);
  if (blocks.count() == 0) return {};
  if (turn == first) locally([&] { return local_.begin_block(blocks.at(0), has_sums); });
  Status status = multiply(step, blocks.at(0).rows);
  if (!is_last || leaves_sums_on_device()) return status;
  locally([&] { return local_.end_block(); });
  for (Index number = 1; status.ok() && number < blocks.count(); ++number) {
    const tessera::detail::BlockOfC block = blocks.at(number);
    locally([&] { return local_.begin_block(block, has_sums); });
    for (Index of_group = first; status.ok() && of_group <= turn; ++of_group) status = multiply(of_group, block.rows);
    locally([&] { return local_.end_block(); });
  }
  return status;
}

/// One layer: each panel is multiplied when it has come, and then forgotten; or after its group of segments, where the
/// sums are in blocks.
///
/// A rank that has the second segment's panels and not the first one's begins with the second: s0 + s1 = s1 + s0. So in
/// a product whose panels lie on one rank each, ranks need not wait for the first panel.
Status SummaRun::run_flat() {
  const Index steps = product_.segments.steps();
  const bool two = steps > 1 && a_.can_begin_two() && b_.can_begin_two();
  const auto has_whole = [&](Index step) { return a_.has_whole(step) && b_.has_whole(step); };
  const bool second_first = two && has_whole(1) && !has_whole(0);
  Status status = waiting([&] {
    if (Status begun = begin_move(0); !begun.ok()) return begun;
    if (Status begun = begin_broadcast(0); !begun.ok() || steps == 1) return begun;
    if (Status begun = begin_move(1); !begun.ok() || !two) return begun;
    if (Status begun = begin_broadcast(1); !begun.ok() || steps == 2) return begun;
    return begin_move(2);
  });
  for (Index turn = 0; status.ok() && turn < steps; ++turn) {
    const Index step = second_first && turn < 2 ? 1 - turn : turn, next = two && turn == 0 ? steps : turn + 1;
    status = waiting([&] {
      if (Status ended = end_broadcast(step); !ended.ok() || next >= steps) return ended;
      if (Status begun = begin_broadcast(next); !begun.ok() || next + 1 >= steps) return begun;
      return begin_move(next + 1);
    });
    if (status.ok()) status = multiply_group(turn, step);
  }
  return status;
}

Status SummaRun::gather_panels() {
  for (Index step = 0; step < product_.segments.steps(); ++step) {
    if (Status status = begin_move(step); !status.ok()) return status;
    if (Status status = begin_broadcast(step); !status.ok()) return status;
    if (Status status = end_broadcast(step); !status.ok()) return status;
  }
  return {};
}

/// Several layers: all panels of the layer's segments come first, because each strip of the sums needs them all. Sums
/// come from the layer above, which has smaller k, and go to the layer below.
Status SummaRun::run_layered() {
  if (Status status = waiting([&] { return gather_panels(); }); !status.ok() || !works_) return status;
  Communicator& world = *product_.grid.world;
  const int above = world.rank() + product_.grid.layer_size(), below = world.rank() - product_.grid.layer_size();
  for (Index strip = 0; receives_sums() && strip < strips(); ++strip) {
    const std::size_t bytes = sums_bytes(rows_of(strip));
    if (bytes == 0) continue;
    ++traffic_of_sums_.messages;
    traffic_of_sums_.bytes_received += bytes;
    if (Status status =
            world.receive(sums_of(strip), bytes, above, tag_of_sums, coming_[static_cast<std::size_t>(strip)]);
        !status.ok())
      return status;
  }
  for (Index strip = 0; strip < strips(); ++strip) {
    const Index rows = rows_of(strip);
    if (Status status = waiting([&] { return world.wait(coming_[static_cast<std::size_t>(strip)]); }); !status.ok())
      return status;
    const tessera::detail::BlockGrid blocks = memory_.blocks().of_rows(rows);
    for (Index number = 0; number < blocks.count(); ++number) {
      tessera::detail::BlockOfC block = blocks.at(number);
      block.row += strip_begin(strip);
      locally([&] { return local_.begin_block(block, receives_sums()); });
      for (Index step = 0; step < product_.segments.steps(); ++step)
        if (Status status = multiply(step, block.rows); !status.ok()) return status;
      locally([&] { return local_.end_block(); });
    }
    if (layer_ == 0 || sums_bytes(rows) == 0) continue;
    locally([&] { return local_.wait_for_sums(); });
    ++traffic_of_sums_.messages;
    traffic_of_sums_.bytes_sent += sums_bytes(rows);
    if (Status status = world.send(sums_of(strip), sums_bytes(rows), below, tag_of_sums, handing_on_); !status.ok())
      return status;
  }
  return waiting([&] { return world.wait(handing_on_); });
}

Status SummaRun::run(DistributedReport& report) {
  Status status = layered_ ? run_layered() : run_flat();
  const Status ended = local_.finish(); // also after a failure, because copies read the panels
  if (local_failure_.ok()) local_failure_ = ended;
  Traffic traffic = traffic_of_sums_;
  traffic += a_.traffic();
  traffic += b_.traffic();
  report.bytes_received = traffic.bytes_received;
  report.bytes_sent = traffic.bytes_sent;
  report.messages = traffic.messages;
  report.broadcasts = traffic.broadcasts;
  report.seconds_waiting = seconds_waiting_;
  report.seconds_multiplying = seconds_multiplying_;
  for (const Status& local : {local_failure_, a_.local_failure(), b_.local_failure()})
    if (status.ok()) status = local;
  return status;
}

} // namespace

const Engine summa{
    {.name = "summa",
     .summary = "C stays; panels of 1024 k are broadcast, the next one while one is multiplied",
     .source = "van de Geijn and Watts 1997; SLATE's gemmC; Solomonik and Demmel 2011"},
    [](const DistributedProduct&) { return std::string(); },
    [](const DistributedProduct& product) -> std::unique_ptr<EngineRun> { return std::make_unique<SummaRun>(product); },
    true};

} // namespace tessera::distributed
