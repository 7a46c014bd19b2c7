#include "operands.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace tessera::bench {
namespace {

constexpr std::size_t alignment = 256;
/// The memory of all sets, in multiples of the L2 cache. Two would do if a cache threw out its oldest lines first.
constexpr std::size_t caches_filled = 4;
constexpr Index most_sets = 1 << 14;
constexpr std::uint64_t seed_of_c = 3;
/// Multiply-adds of the reference that checks a result.
constexpr double reference_work = 2e7;

std::size_t bytes_of(DType type, Index rows, Index cols) {
  const std::size_t bytes = static_cast<std::size_t>(rows * cols) * size_of(type);
  return (bytes + alignment - 1) / alignment * alignment;
}

} // namespace

DeviceOperands::Operand::Operand(Executor& device, DType type, Index row_count, Index col_count, Index sets)
    : rows(row_count),
      cols(col_count),
      stride(bytes_of(type, rows, cols)),
      memory(device, stride * static_cast<std::size_t>(sets)) {}

void DeviceOperands::Operand::fill_at_random(Executor& device, DType type, std::uint64_t seed) const {
  const auto elements = static_cast<Index>(memory.bytes() / size_of(type));
  throw_if_failed(device.random(
      device.default_queue(),
      {.type = type, .rows = 1, .cols = elements, .z = memory.as<void>(), .ldz = elements, .seed = seed}));
}

Index DeviceOperands::count_sets(const Executor& device, const DeviceMode& mode, const RacedProduct& product) {
  const GemmShape& s = product.shape;
  const std::size_t set = bytes_of(mode.type, s.m, s.k) + bytes_of(mode.type, s.k, s.n) + bytes_of(mode.type, s.m, s.n);
  const std::size_t wanted = caches_filled * device.capabilities().l2_bytes;
  return std::clamp<Index>(static_cast<Index>((wanted + set - 1) / set), 1, most_sets);
}

DeviceOperands::DeviceOperands(Executor& device, const DeviceMode& mode, const RacedProduct& product)
    : device_(device),
      sets_(count_sets(device, mode, product)),
      a_(device, mode.type, product.op_a == Op::None ? product.shape.m : product.shape.k,
         product.op_a == Op::None ? product.shape.k : product.shape.m, sets_),
      b_(device, mode.type, product.op_b == Op::None ? product.shape.k : product.shape.n,
         product.op_b == Op::None ? product.shape.n : product.shape.k, sets_),
      c_(device, mode.type, product.shape.m, product.shape.n, sets_) {
  a_.fill_at_random(device, mode.type, 1);
  b_.fill_at_random(device, mode.type, 2);
  call_ = {{.type = mode.type,
            .math = mode.math,
            .op_a = product.op_a,
            .op_b = product.op_b,
            .m = product.shape.m,
            .n = product.shape.n,
            .k = product.shape.k,
            .alpha = product.alpha,
            .lda = a_.cols,
            .ldb = b_.cols,
            .beta = product.beta,
            .ldc = c_.cols},
           mode.type};
}

const GemmCall& DeviceOperands::next() {
  set_ = (set_ + 1) % sets_;
  call_.a = a_.of_set(set_);
  call_.b = b_.of_set(set_);
  call_.c = c_.of_set(set_);
  return call_;
}

void DeviceOperands::reset_c() {
  if (reads_c()) return c_.fill_at_random(device_, call_.type, seed_of_c);
  const auto elements = static_cast<Index>(c_.memory.bytes() / size_of(call_.type));
  throw_if_failed(device_.map(device_.default_queue(), {.op = MapOp::Fill,
                                                        .type = call_.type,
                                                        .rows = 1,
                                                        .cols = elements,
                                                        .alpha = std::numeric_limits<double>::quiet_NaN(),
                                                        .z = c_.memory.as<void>(),
                                                        .ldz = elements}));
}

GemmError DeviceOperands::error(const Arithmetic& arithmetic) const {
  const auto on_host = [&](const Operand& operand) {
    std::vector<char> bytes(operand.stride);
    operand.memory.read(bytes.data(), static_cast<std::size_t>(set_) * operand.stride, operand.stride);
    return bytes;
  };
  const std::vector<char> a = on_host(a_), b = on_host(b_), c = on_host(c_);
  GemmCall call = call_;
  call.math = Math::Strict; // The reference is the exact product in every mode.
  call.a = a.data();
  call.b = b.data();
  std::vector<char> before(c.size());
  if (reads_c()) {
    c_.fill_at_random(device_, call_.type, seed_of_c);
    before = on_host(c_);
  }
  call.c = before.data();
  const double row = static_cast<double>(call.n) * static_cast<double>(call.k);
  const auto rows = static_cast<Index>(std::max(4.0, reference_work / std::max(row, 1.0)));
  GemmReference reference(call, sample_rows(call.m, rows, 1));
  if (has_contract_of_mode(arithmetic.summation)) {
    call.math = arithmetic.math;
    reference.add_bits(call);
  }
  return reference.compare(c.data(), call.ldc, arithmetic);
}

} // namespace tessera::bench
