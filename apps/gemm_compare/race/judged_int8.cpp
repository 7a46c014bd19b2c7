#include "judged_int8.hpp"

#include <vector>

namespace tessera::compare_app {

void run_int8_products(Bench& bench, const Group& group) {
  const Problem problem(bench.options, group.shape, group.type);
  GemmCall call;
  call.type = group.type;
  call.op_a = problem.op_a;
  call.op_b = problem.op_b;
  call.m = group.shape.m;
  call.n = group.shape.n;
  call.k = group.shape.k;
  call.alpha = problem.alpha;
  call.beta = problem.beta;
  call.lda = problem.a.ld;
  call.ldb = problem.b.ld;
  call.ldc = problem.c.ld;
  std::vector<Result> board;
  for (std::size_t kernel = 0; kernel < bench.judged.count(); ++kernel)
    board.push_back(bench.judged.pending(kernel, group));
  bench.board.begin_group(board);
  for (std::size_t kernel = 0; kernel < board.size(); ++kernel) {
    bench.judged.run(kernel, call, nullptr, bench.progress, nullptr, board[kernel]);
    bench.board.set(kernel, board[kernel]);
  }
  bench.board.end_group();
}

} // namespace tessera::compare_app
