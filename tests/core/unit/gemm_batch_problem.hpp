#pragma once

/// A small batch, and what it must give when one thing in it is changed.

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/executor.hpp>

#include "support/expect.hpp"

namespace tessera::test {

/// Three products C := A·B with A 2×3 and B 3×2, all compact, one after the other; or pointers to these matrices.
struct Batch {
  std::vector<float> a = std::vector<float>(18, 1.0f), b = std::vector<float>(18, 1.0f),
                     c = std::vector<float>(12, 7.0f);
  std::vector<const void*> pointers_a{&a[0], &a[6], &a[12]}, pointers_b{&b[0], &b[6], &b[12]};
  std::vector<void*> pointers_c{&c[0], &c[4], &c[8]};
  GemmBatch batch{.call = {{.type = DType::F32,
                            .m = 2,
                            .n = 2,
                            .k = 3,
                            .a = a.data(),
                            .lda = 3,
                            .b = b.data(),
                            .ldb = 2,
                            .c = c.data(),
                            .ldc = 2}},
                  .count = 3,
                  .stride_a = 6,
                  .stride_b = 6,
                  .stride_c = 4};

  void use_pointers() {
    batch.call.a = batch.call.b = batch.call.c = nullptr;
    batch.a = pointers_a.data();
    batch.b = pointers_b.data();
    batch.c = pointers_c.data();
  }
};

inline Status run_batch(std::span<const GemmBatch> groups) {
  Executor& executor = tessera::executor(Backend::Reference);
  return executor.gemm_batch(executor.default_queue(), groups);
}

template <class Change>
void batch_refused(Change change, std::initializer_list<std::string_view> parts) {
  Batch good, x;
  change(x);
  const GemmBatch groups[]{good.batch, x.batch};
  const Status alone = run_batch({&x.batch, 1}), second = run_batch(groups);
  BOOST_TEST((alone.code == StatusCode::InvalidArgument), alone.why);
  for (const std::string_view part : parts)
    BOOST_TEST(contains(alone.why, part), "'" << alone.why << "' lacks '" << part << "'");
  BOOST_TEST((second.why == "group 1: " + alone.why), second.why);
  for (const std::vector<float>* c : {&good.c, &x.c})
    for (const float element : *c) BOOST_TEST(element == 7.0f);
}

template <class Change>
void batch_accepted(Change change, std::vector<float> expected) {
  Batch x;
  change(x);
  const Status status = run_batch({&x.batch, 1});
  BOOST_TEST(status.ok(), status.why);
  BOOST_TEST(x.c == expected, boost::test_tools::per_element());
}

inline const std::vector<float> threes(12, 3.0f);

} // namespace tessera::test
