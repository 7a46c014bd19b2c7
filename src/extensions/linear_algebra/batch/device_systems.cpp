#include "device_systems.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <tessera/backend/panel.hpp>
#include <tessera/backend/small_systems.hpp>
#include <tessera/status.hpp>

#include "extensions/linear_algebra/device/steps.hpp"
#include "extensions/linear_algebra/host_numbers.hpp"

namespace tessera::linear_algebra {
namespace {

/// The most bytes of a piece, which the host may need once more to pack it.
constexpr Index most_piece_bytes = Index{1} << 28;

/// Which numbers of a matrix belong to a task.
enum class Wanted { All, Lower, Upper };

/// The matrices of one operand, piece by piece: in host memory, perhaps packed, and on the device.
template <class T>
class PieceOperand {
 public:
  PieceOperand(const Members<T>& members, Index rows, Index cols, Wanted wanted, bool is_shared)
      : members_(members), rows_(rows), cols_(cols), wanted_(wanted), is_shared_(is_shared) {}

  Index stride() const { return is_shared_ ? 0 : rows_ * cols_; }
  /// Returns the numbers of a piece.
  Index numbers(Index count) const { return rows_ * cols_ * (is_shared_ ? std::min<Index>(count, 1) : count); }
  bool is_packed() const {
    return wanted_ == Wanted::All && members_.all == nullptr && members_.ld == cols_ &&
           (is_shared_ || members_.stride == rows_ * cols_);
  }
  T* at(Index i) const { return members_.at(i); }

  /// Copies the matrices from `first` on to `packed`, or back; all of them, or the ones whose info is 0.
  void gather(const Products<T>& products, Index first, Index count, T* packed) const {
    each(products, is_shared_ ? 1 : count, [&](Index i) {
      T* to = packed + i * rows_ * cols_;
      const T* from = at(first + i);
      for (Index row = 0; row < rows_; ++row, to += cols_, from += members_.ld)
        std::copy(from + begin(row), from + end(row), to + begin(row));
    });
  }
  void scatter(const Products<T>& products, Index first, Index count, const T* packed, const Index* info) const {
    each(products, count, [&](Index i) {
      if (info != nullptr && info[i] != 0) return;
      const T* from = packed + i * rows_ * cols_;
      T* to = at(first + i);
      for (Index row = 0; row < rows_; ++row, from += cols_, to += members_.ld)
        std::copy(from + begin(row), from + end(row), to + begin(row));
    });
  }

 private:
  Index begin(Index row) const { return wanted_ == Wanted::Upper ? row : 0; }
  Index end(Index row) const { return wanted_ == Wanted::Lower ? row + 1 : cols_; }
  template <class Copy>
  void each(const Products<T>& products, Index count, const Copy& copy) const {
    constexpr Index worth = 16384; // numbers that are worth the start of a thread
    products.in_parts(count, std::max<Index>(1, worth / (rows_ * cols_)), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) copy(i);
    });
  }

  Members<T> members_;
  Index rows_, cols_;
  Wanted wanted_;
  bool is_shared_;
};

/// Parts of one allocation, each at a whole line.
class Layout {
 public:
  Index add(Index bytes) {
    const Index at = bytes_;
    bytes_ += (bytes + 255) / 256 * 256;
    return at;
  }
  Index bytes() const { return bytes_; }

 private:
  Index bytes_ = 0;
};

template <class T>
class Pieces {
 public:
  Pieces(const Systems<T>& systems, const Products<T>& products, Executor& device)
      : systems_(systems),
        products_(products),
        device_(device),
        steps_(device, detail::number_type_of<T>.part, is_complex<T>),
        a_(systems.a, systems.m, systems.n, wanted_of_a(systems),
           systems.a.all == nullptr && systems.a.stride == 0 && systems.count > 1),
        b_(systems.b, systems.n, systems.columns, Wanted::All, false) {}

  Index compute() {
    if (!take_memory()) return 0;
    Index done = 0;
    try {
      for (; done < systems_.count; done += piece_) compute_piece(done, std::min(piece_, systems_.count - done));
    } catch (const KernelRejected&) {
      return done;
    } catch (const OutOfMemory&) {
      return done;
    }
    return systems_.count;
  }

 private:
  static Wanted wanted_of_a(const Systems<T>& x) {
    const bool is_positive =
        x.task == BatchTask::Cholesky || x.task == BatchTask::CholeskySolve || x.task == BatchTask::SolvePositive;
    return !is_positive ? Wanted::All : x.triangle == Triangle::Lower ? Wanted::Lower : Wanted::Upper;
  }
  bool writes_a() const { return systems_.task == BatchTask::Lu || systems_.task == BatchTask::Cholesky; }
  bool has_b() const { return !writes_a() && systems_.columns > 0; }
  bool has_pivots() const { return systems_.task == BatchTask::Lu || systems_.task == BatchTask::LuSolve; }
  bool has_info() const { return systems_.task != BatchTask::LuSolve && systems_.task != BatchTask::CholeskySolve; }
  Index steps_of_system() const { return std::min(systems_.m, systems_.n); }
  Index pivots_of(Index count) const {
    return has_pivots() ? steps_of_system() * (systems_.pivot_stride == 0 ? 1 : count) : 0;
  }

  Layout lay_out(Index count) {
    Layout layout;
    const auto number = static_cast<Index>(sizeof(T)), integer = static_cast<Index>(sizeof(Index));
    at_a_ = layout.add(a_.numbers(count) * number);
    at_b_ = layout.add(has_b() ? b_.numbers(count) * number : 0);
    at_pivots_ = layout.add(pivots_of(count) * integer);
    at_info_ = layout.add(has_info() ? count * integer : 0);
    return layout;
  }
  /// Takes the memory of a piece, on the device and here. Says no where the device lacks memory for one system.
  bool take_memory() {
    constexpr Index some = 64;
    piece_ = std::clamp<Index>(most_piece_bytes / std::max<Index>(1, lay_out(some).bytes() / some), 1, systems_.count);
    for (;; piece_ = (piece_ + 1) / 2) try {
        memory_.emplace(device_, lay_out(piece_).bytes());
        break;
      } catch (const OutOfMemory&) {
        if (piece_ == 1) return false;
      }
    if (!a_.is_packed()) packed_a_.emplace(a_.numbers(piece_));
    if (has_b() && (!b_.is_packed() || systems_.task == BatchTask::Inverse)) packed_b_.emplace(b_.numbers(piece_));
    return true;
  }

  template <class N>
  N* on_device(Index at) const {
    return reinterpret_cast<N*>(memory_->as<char>() + at);
  }

  void compute_piece(Index first, Index count) {
    if (!a_.is_packed() && !(is_there_ && a_.stride() == 0)) a_.gather(products_, first, count, packed_a_->get());
    if (!(is_there_ && a_.stride() == 0))
      write(at_a_, a_.is_packed() ? a_.at(first) : packed_a_->get(), a_.numbers(count));
    is_there_ = true;
    if (has_b() && systems_.task != BatchTask::Inverse) {
      if (!b_.is_packed()) b_.gather(products_, first, count, packed_b_->get());
      write(at_b_, b_.is_packed() ? b_.at(first) : packed_b_->get(), b_.numbers(count));
    }
    if (systems_.task == BatchTask::LuSolve)
      write(at_pivots_, systems_.pivots + first * systems_.pivot_stride, pivots_of(count));
    run(count);
    fetch(first, count);
  }
  void run(Index count) {
    const SystemsCall call{.task = systems_.task,
                           .columns = writes_a() ? 0 : systems_.columns,
                           .count = count,
                           .a = on_device<void>(at_a_),
                           .lda = systems_.n,
                           .stride_a = a_.stride(),
                           .b = on_device<void>(at_b_),
                           .ldb = systems_.columns,
                           .stride_b = b_.stride(),
                           .is_upper = systems_.triangle == Triangle::Upper,
                           .is_transposed = systems_.op != Op::None,
                           .pivots = on_device<Index>(at_pivots_),
                           .pivot_stride = systems_.pivot_stride,
                           .info = has_info() ? on_device<Index>(at_info_) : nullptr,
                           .is_conjugated = systems_.op == Op::ConjugateTranspose};
    steps_.panel({.op = PanelOp::SmallSystems, .rows = systems_.m, .cols = systems_.n, .systems = &call});
  }
  /// Brings the results to the caller's memory; what a failed system must not change stays.
  void fetch(Index first, Index count) {
    std::vector<Index> info(static_cast<std::size_t>(has_info() ? count : 0));
    if (has_info()) steps_.read(std::span(info), on_device<const Index>(at_info_));
    if (writes_a()) {
      bring(a_, packed_a_, at_a_, first, count, systems_.task == BatchTask::Cholesky ? info.data() : nullptr);
    } else if (has_b()) {
      bring(b_, packed_b_, at_b_, first, count, has_info() ? info.data() : nullptr);
    }
    if (systems_.task == BatchTask::Lu)
      steps_.read(
          std::span(systems_.pivots + first * systems_.pivot_stride, static_cast<std::size_t>(pivots_of(count))),
          on_device<const Index>(at_pivots_));
    if (has_info() && systems_.info != nullptr) std::ranges::copy(info, systems_.info + first);
  }
  void bring(const PieceOperand<T>& operand, const std::optional<HostNumbers<T>>& packed, Index at, Index first,
             Index count, const Index* info) {
    const auto numbers = static_cast<std::size_t>(operand.numbers(count));
    T* const to = packed ? packed->get() : operand.at(first);
    steps_.read(std::span(to, numbers), on_device<const T>(at));
    if (packed) operand.scatter(products_, first, count, to, info);
  }
  template <class N>
  void write(Index at, const N* from, Index count) {
    steps_.write(on_device<N>(at), std::span<const N>(from, static_cast<std::size_t>(count)));
  }

  const Systems<T>& systems_;
  const Products<T>& products_;
  Executor& device_;
  const device::Steps steps_;
  const PieceOperand<T> a_, b_;
  Index piece_ = 0, at_a_ = 0, at_b_ = 0, at_pivots_ = 0, at_info_ = 0;
  bool is_there_ = false; ///< A is on the device, which matters where all systems share it
  std::optional<device::DeviceArray> memory_;
  std::optional<HostNumbers<T>> packed_a_, packed_b_;
};

} // namespace

template <class T>
Index compute_on_device(const Systems<T>& systems, const Products<T>& products, Executor& device) {
  return Pieces<T>(systems, products, device).compute();
}
template Index compute_on_device(const Systems<float>&, const Products<float>&, Executor&);
template Index compute_on_device(const Systems<double>&, const Products<double>&, Executor&);
template Index compute_on_device(const Systems<std::complex<float>>&, const Products<std::complex<float>>&, Executor&);
template Index compute_on_device(const Systems<std::complex<double>>&, const Products<std::complex<double>>&,
                                 Executor&);

} // namespace tessera::linear_algebra
