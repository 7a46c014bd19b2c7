#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <tessera/backend.hpp>
#include <tessera/half.hpp>
#include <tessera/status.hpp>

#include "data_sets.hpp"

namespace tessera::compare_app {
namespace {

/// The reference executor, which is always there and whose memory is the host's.
Executor& host() { return executor(Backend::Reference); }

void copy(const Buffer& buffer, const Stored& x, const void* from, Index ld) {
  throw_if_failed(host().copy_in(host().default_queue(), buffer.data(), x.pitch(), from,
                                 static_cast<std::size_t>(ld) * size_of(x.type), x.width(),
                                 static_cast<std::size_t>(x.rows)));
}

bool is_whole(double value) { return std::trunc(value) == value; }

/// Returns the largest sum of whole numbers on the way to an element of a conventional product; infinity if there are
/// other numbers, or if an operand is so large that a narrow format does not have it exactly.
double largest_sum_of(const Problem& problem, const Options& options) {
  constexpr double unknown_sum = std::numeric_limits<double>::infinity();
  const Filling& filling = options.filling;
  if (options.reads_files() || filling.distribution != Distribution::Integers) return unknown_sum;
  if (!is_whole(problem.alpha) || !is_whole(problem.beta)) return unknown_sum;
  const double largest = std::max(std::abs(filling.low), std::abs(filling.high));
  if (largest > 256) return unknown_sum;
  return std::abs(problem.alpha) * static_cast<double>(problem.shape.k) * largest * largest +
         std::abs(problem.beta) * largest;
}

void upload(Executor& device, const Buffer& to, const Buffer& from, const Stored& x) {
  if (x.width() == 0 || x.rows == 0) return;
  throw_if_failed(device.copy_in(device.default_queue(), to.data(), x.pitch(), from.data(), x.pitch(), x.width(),
                                 static_cast<std::size_t>(x.rows)));
}

} // namespace

Buffer::Buffer(Executor& executor, std::size_t bytes) : executor_(&executor) {
  throw_if_failed(executor.allocate(std::max<std::size_t>(bytes, 64), data_));
}
Buffer::~Buffer() {
  if (data_ != nullptr) executor_->free(data_);
}
Buffer::Buffer(Buffer&& other) noexcept : executor_(other.executor_), data_(std::exchange(other.data_, nullptr)) {}
Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(executor_, other.executor_);
  std::swap(data_, other.data_);
  return *this;
}

Stored::Stored(Index stored_rows, Index stored_cols, DType stored_type, Index padding)
    : rows(stored_rows), cols(stored_cols), type(stored_type) {
  const Index line = static_cast<Index>(64 / size_of(type));
  const Index largest = std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(size_of(type));
  bool overflows = cols > largest - line || (rows > 0 && std::max(cols, line) > (largest - line) / rows);
  if (padding > 0 && !overflows) overflows = padding > largest - cols || (rows > 0 && cols + padding > largest / rows);
  if (overflows)
    throw InvalidArgument("a matrix of " + std::to_string(rows) + "×" + std::to_string(cols) + " " +
                          std::string(to_string(type)) + " elements" +
                          (padding > 0 ? " with --ld-pad " + std::to_string(padding) : std::string()) +
                          " overflows the address space");
  ld = padding < 0 ? std::max(line, (cols + line - 1) / line * line) : std::max<Index>(1, cols + padding);
}

std::size_t Stored::bytes() const { return static_cast<std::size_t>(rows) * pitch(); }

Problem::Problem(const Options& options, const GemmShape& wanted, DType wanted_type)
    : shape(wanted),
      type(wanted_type),
      op_a(options.op_a),
      op_b(options.op_b),
      alpha(options.alpha),
      beta(options.beta),
      a(op_a == Op::None ? shape.m : shape.k, op_a == Op::None ? shape.k : shape.m, type, options.ld_pad),
      b(op_b == Op::None ? shape.k : shape.n, op_b == Op::None ? shape.n : shape.k, type, options.ld_pad),
      c(shape.m, shape.n, options.result_of(type), options.ld_pad),
      largest_sum(largest_sum_of(*this, options)) {}

bool Problem::is_exact(Math math) const {
  return largest_sum * growth_of_sums(math, shape.m, shape.n, shape.k) <= std::ldexp(1.0, element_type(c.type).digits);
}

void Operands::allocate(Executor& executor, std::size_t count) {
  for (std::size_t s = 0; s < count; ++s) {
    Set set{Buffer(executor, problem_.a.bytes()),
            Buffer(executor, problem_.b.bytes()),
            Buffer(executor, problem_.c.bytes()),
            {}};
    if (problem_.beta != 0) set.before = Buffer(executor, problem_.c.bytes());
    sets_.push_back(std::move(set));
  }
}

Operands Operands::on_host(const Problem& problem, const Options& options, const GivenData* given, std::size_t count) {
  Operands operands(problem);
  operands.allocate(host(), count);
  for (std::size_t s = 0; s < count; ++s) {
    const Set& set = operands.sets_[s];
    if (given != nullptr) {
      copy(set.a, problem.a, given->a, given->lda);
      copy(set.b, problem.b, given->b, given->ldb);
      if (problem.beta != 0) copy(set.before, problem.c, given->c, given->ldc);
    } else {
      fill_operands(problem, options, s, set.a.data(), set.b.data(), set.before.data());
    }
  }
  return operands;
}

Operands Operands::on_device(const Problem& problem, const Operands& host, Executor& device) {
  Operands operands(problem);
  operands.allocate(device, host.count());
  for (std::size_t s = 0; s < host.count(); ++s) operands.copy_in(s, host, device);
  return operands;
}

GemmCall Operands::call(std::size_t set, Math math, int threads) const {
  const Set& x = sets_[set];
  return {{.type = problem_.type,
           .math = math,
           .op_a = problem_.op_a,
           .op_b = problem_.op_b,
           .m = problem_.shape.m,
           .n = problem_.shape.n,
           .k = problem_.shape.k,
           .alpha = problem_.alpha,
           .a = x.a.data(),
           .lda = problem_.a.ld,
           .b = x.b.data(),
           .ldb = problem_.b.ld,
           .beta = problem_.beta,
           .c = x.c.data(),
           .ldc = problem_.c.ld,
           .threads = threads},
          problem_.c.type};
}

GemmCall Operands::call_before(std::size_t set) const {
  GemmCall call = this->call(set, Math::Strict, 0);
  if (problem_.beta != 0) call.c = sets_[set].before.data();
  return call;
}

void Operands::prepare(std::size_t set, Executor& executor) const {
  throw_if_failed(enqueue_preparation(set, executor));
  throw_if_failed(executor.default_queue().synchronize());
}

Status Operands::enqueue_preparation(std::size_t set, Executor& executor) const {
  const Set& x = sets_[set];
  MapCall map;
  map.op = problem_.beta == 0 ? MapOp::Fill : MapOp::Scale;
  map.type = problem_.c.type;
  map.rows = problem_.c.rows;
  map.cols = problem_.c.cols;
  map.alpha = problem_.beta == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0;
  map.x = x.before.data();
  map.z = x.c.data();
  map.ldx = map.ldz = problem_.c.ld;
  if (map.rows == 0 || map.cols == 0) return {};
  return executor.map(executor.default_queue(), map);
}

void Operands::copy_in(std::size_t set, const Operands& host, Executor& device) const {
  upload(device, sets_[set].a, host.sets_[set].a, problem_.a);
  upload(device, sets_[set].b, host.sets_[set].b, problem_.b);
  if (problem_.beta != 0) upload(device, sets_[set].before, host.sets_[set].before, problem_.c);
}

void Operands::copy_out(std::size_t set, Executor& device, void* c) const {
  if (problem_.c.rows == 0 || problem_.c.cols == 0) return;
  throw_if_failed(device.copy_out(device.default_queue(), c, problem_.c.pitch(), sets_[set].c.data(),
                                  problem_.c.pitch(), problem_.c.width(), static_cast<std::size_t>(problem_.c.rows)));
}

std::size_t sets_to_rotate(std::size_t set_bytes, std::size_t cache_bytes, std::size_t memory_bytes) {
  set_bytes = std::max<std::size_t>(set_bytes, 1);
  const std::size_t wanted = std::clamp<std::size_t>(2 * cache_bytes / set_bytes + 1, 2, 128);
  return std::clamp<std::size_t>(memory_bytes / set_bytes, 1, wanted);
}

} // namespace tessera::compare_app
