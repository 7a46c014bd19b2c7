/// What is wrong with the arguments of a distributed product, and what the ranks must agree on.

#include "call.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <tessera/backend.hpp>

#include "agreement.hpp"
#include "core/base/unknown_word.hpp"
#include "core/gemm/check_gemm.hpp"
#include "engines.hpp"
#include "stored_rows.hpp"

namespace tessera::distributed {
namespace {

using namespace tessera::detail;

/// Returns the place of the engine that was named in the ladder; −1 for an empty name, −2 for an unknown one.
std::int64_t number_of_engine(const std::string& name) {
  if (name.empty()) return -1;
  std::int64_t number = 0;
  for (const Engine* engine : engines()) {
    if (engine->name == name) return number;
    ++number;
  }
  return -2;
}

std::string name_of(DistributedType type) {
  return (type.is_complex ? "complex " : "") + std::string(to_string(type.part));
}

Status check_threads(const Call& call) {
  const int threads = call.options.threads > 0 ? call.options.threads : default_threads();
  const ThreadLevel level = call.c.grid->world->thread_level();
  if (level == ThreadLevel::Single && threads > 1 && call.options.backend != Backend::Reference)
    return {StatusCode::InvalidArgument,
            "MPI was initialised with MPI_THREAD_SINGLE, and the local products would use " + std::to_string(threads) +
                " threads; call MPI_Init_thread with MPI_THREAD_FUNNELED, or pass threads = 1"};
  return {};
}

/// The arguments that describe how a matrix lies.
std::array<EqualArgument, 5> layout(const DistributedStorage& x, const char* name) {
  return {{{name, x.blocks.rows},
           {name, x.blocks.cols},
           {name, std::int64_t{x.row_source}},
           {name, std::int64_t{x.col_source}},
           {name, std::int64_t{static_cast<int>(x.order)}}}};
}

} // namespace

Status check(const Call& call) {
  const auto wrong = [](std::string why) { return Status{StatusCode::InvalidArgument, std::move(why)}; };
  for (const DistributedStorage* x : {&call.a, &call.b})
    if (x->type != call.c.type)
      return wrong("an operand is of " + name_of(x->type) + ", and c is of " + name_of(call.c.type));
  if (call.a.grid != call.c.grid || call.b.grid != call.c.grid)
    return wrong("a, b and c are not on one grid; redistribute them to one");
  const Index b_rows = call.op_b == Op::None ? call.b.rows : call.b.cols;
  if (std::string why = inner_mismatch(call.m(), call.k(), b_rows, call.n()); !why.empty()) return wrong(why);
  if (call.c.rows != call.m() || call.c.cols != call.n())
    return wrong("c is " + std::to_string(call.c.rows) + "×" + std::to_string(call.c.cols) + ", and the product is " +
                 std::to_string(call.m()) + "×" + std::to_string(call.n()));
  if (call.options.device >= 0 && call.options.backend == Backend::Auto)
    return wrong("device " + std::to_string(call.options.device) + " of no backend; name the backend");
  if (call.options.threads < 0)
    return wrong("threads = " + std::to_string(call.options.threads) + " is negative; 0 means the default");
  if (number_of_engine(call.options.engine) == -2) {
    std::vector<std::string> names;
    for (const Engine* engine : engines()) names.emplace_back(engine->name);
    return wrong(unknown_word("engine", call.options.engine, names));
  }
  const auto shape = [](const DistributedStorage& x) { return std::to_string(x.rows) + "×" + std::to_string(x.cols); };
  for (const auto& [x, name] : {std::pair{&call.a, "a"}, std::pair{&call.b, "b"}})
    if (overlap(stored_rows(*x), stored_rows(call.c)))
      return wrong(std::string("c overlaps ") + name + " in this rank's memory (c is " + shape(call.c) + ", " + name +
                   " is " + shape(*x) + "); the product needs a separate result");
  return check_threads(call);
}

Status agree_on(const Call& call, const Status& mine) {
  // Nothing is allocated before the ranks agree.
  const std::array<EqualArgument, 13> own{{{"m", call.m()},
                                           {"n", call.n()},
                                           {"k", call.k()},
                                           {"the transpose of a", std::int64_t{static_cast<int>(call.op_a)}},
                                           {"the transpose of b", std::int64_t{static_cast<int>(call.op_b)}},
                                           {"alpha", call.alpha.real()},
                                           {"beta", call.beta.real()},
                                           {"the imaginary part of alpha", call.alpha.imag()},
                                           {"the imaginary part of beta", call.beta.imag()},
                                           {"the element type", std::int64_t{static_cast<int>(call.c.type.part)}},
                                           {"complex elements", std::int64_t{call.c.type.is_complex}},
                                           {"the engine", number_of_engine(call.options.engine)},
                                           {"device_messages", std::int64_t{call.options.device_messages}}}};
  std::array<EqualArgument, 13 + 3 * 5> arguments;
  auto* end = std::copy(own.begin(), own.end(), arguments.begin());
  for (const auto& of_matrix : {layout(call.a, "the distribution of a"), layout(call.b, "the distribution of b"),
                                layout(call.c, "the distribution of c")})
    end = std::copy(of_matrix.begin(), of_matrix.end(), end);
  return agree(*call.c.grid->world, name_of_gemm, mine, arguments);
}

} // namespace tessera::distributed
