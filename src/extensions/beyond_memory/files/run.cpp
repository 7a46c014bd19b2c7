/// A product of files is checked, what an earlier call has left of it is found, and it is planned.

#include "run.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <tessera/detail/matrix_unit_contract.hpp>
#include <tessera/status.hpp>

#include "core/executor/summation_order.hpp"
#include "core/gemm/check_gemm.hpp"
#include "core/placement/placement.hpp"
#include "extensions/io/npy_header.hpp"
#include "system_memory.hpp"

namespace tessera::files {
namespace {

constexpr std::string_view block_rows = "block rows", block_columns = "block columns";

/// Returns the shortest text that gives the same number.
std::string text_of_number(double value) {
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

} // namespace

Run::Run(const FileProduct& product) : asked_(product), a_(product.a), b_(product.b), unfinished_(product.out) {
  if (asked_.memory_limit == 0)
    throw InvalidArgument("memory_limit = 0: a product of files needs a limit of memory, in bytes");
  if ((asked_.beta != 0.0) == asked_.c.empty())
    throw InvalidArgument(asked_.beta != 0.0 ? "beta = " + text_of_number(asked_.beta) + " needs a file of C to add to"
                                             : "c = " + asked_.c.string() + " is read only if beta is not 0");
  if (asked_.beta != 0.0) c_.emplace(asked_.c);
  check_types();
  check_shapes();
  check_output();
  find_executors();
  measure_devices();
  header_ = io::npy_header_of(sizes_.result, sizes_.shape.m, sizes_.shape.n);
  look_for_unfinished();
  if (!goes_on_) plan_ = choose_plan(sizes_, asked_.memory_limit);
  done_.assign(static_cast<std::size_t>(plan_.grid.count()), false);
  for (const Index number : recorded_.done) {
    if (number >= plan_.grid.count())
      throw InvalidArgument("the journal of " + asked_.out.string() + " says that block " + std::to_string(number) +
                            " is done, and there are " + std::to_string(plan_.grid.count()) + "; start over");
    done_[static_cast<std::size_t>(number)] = true;
  }
  recorded_.done = {};
}

void Run::check_types() {
  const auto holds = [](const std::filesystem::path& path, DType type) {
    return path.string() + " holds " + std::string(to_string(type));
  };
  sizes_.type = a_.info().type;
  sizes_.result = asked_.result.value_or(sizes_.type);
  if (b_.info().type != sizes_.type)
    throw InvalidArgument(holds(asked_.b, b_.info().type) + ", but " + holds(asked_.a, sizes_.type) +
                          "; both must be the same");
  if (!is_result_of(sizes_.result, sizes_.type))
    throw InvalidArgument("the result cannot be " + std::string(to_string(sizes_.result)) + ", because " +
                          holds(asked_.a, sizes_.type));
  if (c_ && c_->info().type != sizes_.result)
    throw InvalidArgument(holds(asked_.c, c_->info().type) + ", but the result is " +
                          std::string(to_string(sizes_.result)));
  for (const auto& [name, value] : {std::pair{"alpha", asked_.alpha}, std::pair{"beta", asked_.beta}})
    if (sizes_.sums() == DType::F32 && static_cast<double>(static_cast<float>(value)) != value && value == value)
      throw InvalidArgument(std::string(name) + " = " + text_of_number(value) + " is not exact in f32");
  if (asked_.op_a == Op::ConjugateTranspose || asked_.op_b == Op::ConjugateTranspose)
    throw InvalidArgument("a conjugate transpose is for complex matrices, and files have real ones");
  if (asked_.threads < 0)
    throw InvalidArgument("threads = " + std::to_string(asked_.threads) + " is negative; 0 means the default");
}

void Run::check_shapes() {
  const bool flip_a = asked_.op_a == Op::Transpose, flip_b = asked_.op_b == Op::Transpose;
  const NpyInfo &a = a_.info(), &b = b_.info();
  sizes_.shape.m = flip_a ? a.cols : a.rows;
  sizes_.shape.k = flip_a ? a.rows : a.cols;
  sizes_.shape.n = flip_b ? b.rows : b.cols;
  if (const std::string why = inner_mismatch(sizes_.shape.m, sizes_.shape.k, flip_b ? b.cols : b.rows, sizes_.shape.n);
      !why.empty())
    throw InvalidArgument(why);
  if (c_ && (c_->info().rows != sizes_.shape.m || c_->info().cols != sizes_.shape.n))
    throw InvalidArgument("c is " + std::to_string(c_->info().rows) + "×" + std::to_string(c_->info().cols) +
                          ", and the product is " + std::to_string(sizes_.shape.m) + "×" +
                          std::to_string(sizes_.shape.n));
  sizes_.op_a = a_.stored_op(asked_.op_a);
  sizes_.op_b = b_.stored_op(asked_.op_b);
  sizes_.multiplies = asked_.alpha != 0.0 && sizes_.shape.k > 0;
  sizes_.reads_c = c_.has_value();
  sizes_.c_in_columns = c_ && c_->info().fortran_order;
  call_ = {{.type = sizes_.type,
            .math = asked_.math,
            .op_a = sizes_.op_a,
            .op_b = sizes_.op_b,
            .m = sizes_.shape.m,
            .n = sizes_.shape.n,
            .k = sizes_.shape.k,
            .threads = asked_.threads},
           sizes_.sums()};
}

/// C may be the output: its old values are read until the new ones take its name. A and B may not, because a product
/// that was stopped would not find them again.
void Run::check_output() {
  const io::OutputTarget& target = unfinished_.target();
  for (const auto& [name, file] : {std::pair{"a", &a_}, std::pair{"b", &b_}})
    if (target.exists && file->is(target.status))
      throw InvalidArgument("out = " + asked_.out.string() + " is the file of " + name + ", " + file->path().string() +
                            "; write to another one");
}

void Run::find_executors() {
  std::vector<Executor*> executors = asked_.executors;
  if (executors.empty()) executors.push_back(&place_gemm(Backend::Auto, {sizes_.type, asked_.math, sizes_.shape}, {}));
  tessera::detail::check_executors(executors);
  sizes_.on_host = 0;
  for (Executor* executor : executors) {
    workers_.push_back({});
    workers_.back().executor = executor;
    ++(executor->capabilities().host_memory ? sizes_.on_host : sizes_.on_devices);
    if (tessera::detail::keeps_matrix_unit_contract(*executor, call_, asked_.kernel))
      sizes_.segment = std::max<Index>(tessera::detail::hopper::slice_of_mode(call_.math, sizes_.shape.k), 1);
  }
  sizes_.multiply_adds_a_second = 0;
  for (const Worker& worker : workers_)
    sizes_.multiply_adds_a_second +=
        tessera::detail::multiply_adds_a_second(*worker.executor, call_) / static_cast<double>(workers_.size());
  const double elements = static_cast<double>(sizes_.shape.m + sizes_.shape.n) * static_cast<double>(sizes_.shape.k);
  const double of_c =
      static_cast<double>(sizes_.shape.m) * static_cast<double>(sizes_.shape.n) * (sizes_.reads_c ? 2 : 1);
  const double files =
      elements * static_cast<double>(size_of(sizes_.type)) + of_c * static_cast<double>(size_of(sizes_.result));
  constexpr double share = 0.75;                                                  // other programs need memory, too
  const double taken = std::min(files, static_cast<double>(asked_.memory_limit)); // the product takes no more
  sizes_.files_stay_cached = files + taken <= share * static_cast<double>(system_memory_bytes());
}

/// Finds out how large blocks may be for every device to hold them.
void Run::measure_devices() {
  if (!sizes_.multiplies || sizes_.shape.m == 0 || sizes_.shape.n == 0) return;
  for (Worker& worker : workers_) {
    if (worker.executor->capabilities().host_memory) continue;
    worker.device = std::make_unique<StreamedProduct>(*worker.executor, call_, asked_.kernel);
    if (Status status = worker.device->reserve(sizes_.segment); !status.ok()) {
      status.why = tessera::detail::name_of(*worker.executor) + ": " + status.why;
      throw_if_failed(status);
    }
    const StreamedBlocks& blocks = worker.device->blocks();
    sizes_.most_m = sizes_.most_m == 0 ? blocks.m : std::min(sizes_.most_m, blocks.m);
    sizes_.most_n = sizes_.most_n == 0 ? blocks.n : std::min(sizes_.most_n, blocks.n);
  }
}

Facts Run::facts() const {
  Facts all{{"a", a_.identity()},
            {"b", b_.identity()},
            {"c", c_ ? c_->identity() : "none"},
            {"transpose of a", asked_.op_a == Op::None ? "no" : "yes"},
            {"transpose of b", asked_.op_b == Op::None ? "no" : "yes"},
            {"alpha", text_of_number(asked_.alpha)},
            {"beta", text_of_number(asked_.beta)},
            {"type of the result", std::string(to_string(sizes_.result))},
            {"math", std::string(to_string(asked_.math))},
            {"kernel", asked_.kernel.empty() ? "any" : asked_.kernel}};
  if (asked_.math != Math::Strict || !asked_.kernel.empty()) { // the bits may depend on the backend
    std::string names;
    for (const Worker& worker : workers_)
      names.append(names.empty() ? "" : " ").append(to_string(worker.executor->capabilities().backend));
    all.emplace_back("backends", names);
  }
  if (sizes_.segment != canonical_segment) all.emplace_back("k of a segment", std::to_string(sizes_.segment));
  all.emplace_back(block_rows, std::to_string(plan_.grid.block_m));
  all.emplace_back(block_columns, std::to_string(plan_.grid.block_n));
  return all;
}

/// Takes over the blocks of an unfinished product, if it is this one. Throws if it is another one.
void Run::look_for_unfinished() {
  const std::uint64_t bytes =
      header_.size() + static_cast<std::uint64_t>(sizes_.shape.m * sizes_.shape.n) * size_of(sizes_.result);
  if (asked_.start_over || !unfinished_.find(header_, bytes, recorded_)) {
    recorded_ = {};
    return;
  }
  const std::string out = asked_.out.string();
  constexpr std::string_view free[]{block_rows, block_columns};
  if (const std::string why = difference(recorded_.facts, facts(), free); !why.empty())
    throw InvalidArgument("an unfinished product of " + out + " is another one: " + why +
                          "; finish it with what it began with, or start over");
  if (recorded_.done.empty())
    throw IoError("the blocks of an unfinished product of " + out +
                  " do not have the size and the header that they were written with; start over");
  const auto number = [&](std::string_view name) {
    const std::string_view text = value_of(recorded_.facts, name);
    Index value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    if (value < 1) throw InvalidArgument("the journal of " + out + " has no " + std::string(name) + "; start over");
    return value;
  };
  const FilePlan recorded = plan_of_blocks(sizes_, number(block_rows), number(block_columns), asked_.memory_limit);
  const std::string blocks = "the unfinished product of " + out + " has blocks of " +
                             std::string(value_of(recorded_.facts, block_rows)) + "×" +
                             std::string(value_of(recorded_.facts, block_columns));
  if (const std::size_t needed = recorded.bytes(sizes_); needed > asked_.memory_limit)
    throw OutOfMemory(blocks + ", which need " + std::to_string(needed) + " bytes, and memory_limit is " +
                      std::to_string(asked_.memory_limit) + "; raise the limit, or start over");
  if ((sizes_.most_m > 0 && recorded.grid.block_m > sizes_.most_m) ||
      (sizes_.most_n > 0 && recorded.grid.block_n > sizes_.most_n))
    throw OutOfMemory(blocks + ", and the devices have memory for blocks of " + std::to_string(sizes_.most_m) + "×" +
                      std::to_string(sizes_.most_n) + "; use the executors that it began with, or start over");
  plan_ = recorded;
  goes_on_ = true;
}

} // namespace tessera::files
