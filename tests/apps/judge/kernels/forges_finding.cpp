/// Replies in the child's place, with an offset that cannot be negated.
#include <cstdint>

#include "forged_reply.hpp"
#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  auto reply = done_with_first_call();
  reply.finding = tessera::judge::Finding::OutOfBounds;
  reply.offset = INT64_MIN;
  send_reply(reply);
}
