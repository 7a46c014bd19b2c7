// The calls of products: their members are named where they are initialised, and they lie where plug-ins look for them.

#include <complex>
#include <cstddef>
#include <type_traits>

#include <boost/test/unit_test.hpp>

#include <tessera/batch.hpp>
#include <tessera/complex.hpp>

using namespace tessera;

namespace {

/// Does a list of values without names initialise a call, in one pair of braces or in two?
template <class Call>
constexpr bool takes_list = requires {
  Call{DType::F64, Math::Strict, Op::None, Op::None, Index{2}, Index{3}};
};
template <class Call>
constexpr bool takes_inner_list = requires {
  Call{{DType::F64, Math::Strict, Op::None, Op::None, Index{2}, Index{3}}};
};
/// Does a list with names initialise it?
template <class Call>
constexpr bool takes_names = requires {
  Call{{.type = DType::F64, .m = 2, .n = 3, .k = 4}};
};

static_assert(takes_names<GemmCall> && !takes_list<GemmCall> && !takes_inner_list<GemmCall>);
static_assert(takes_names<ComplexGemmCall> && !takes_list<ComplexGemmCall> && !takes_inner_list<ComplexGemmCall>);

template <class Batch>
constexpr bool takes_batch_list = requires {
  Batch{GemmCall{}, Index{2}, Index{3}, Index{4}};
};
template <class Batch>
constexpr bool takes_batch_names = requires {
  Batch{.call = GemmCall{}, .count = 2, .stride_a = 3};
};
static_assert(takes_batch_names<GemmBatch> && !takes_batch_list<GemmBatch>);

static_assert(std::is_trivially_copyable_v<GemmCall> && std::is_trivially_copyable_v<ComplexGemmCall>);

/// Returns how many bytes after the beginning of x a member of it lies.
template <class Call, class Member>
std::ptrdiff_t offset(const Call& x, const Member& member) {
  return reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&x);
}

} // namespace

BOOST_AUTO_TEST_SUITE(calls)

/// A member that moves needs another plugin_abi_version, because plug-ins of the version before would not find it.
BOOST_AUTO_TEST_CASE(members_lie_where_plug_ins_look_for_them) {
  const GemmCall x;
  BOOST_TEST(offset(x, x.type) == 0);
  BOOST_TEST(offset(x, x.math) == 4);
  BOOST_TEST(offset(x, x.op_a) == 8);
  BOOST_TEST(offset(x, x.op_b) == 12);
  BOOST_TEST(offset(x, x.m) == 16);
  BOOST_TEST(offset(x, x.n) == 24);
  BOOST_TEST(offset(x, x.k) == 32);
  BOOST_TEST(offset(x, x.alpha) == 40);
  BOOST_TEST(offset(x, x.a) == 48);
  BOOST_TEST(offset(x, x.lda) == 56);
  BOOST_TEST(offset(x, x.b) == 64);
  BOOST_TEST(offset(x, x.ldb) == 72);
  BOOST_TEST(offset(x, x.beta) == 80);
  BOOST_TEST(offset(x, x.c) == 88);
  BOOST_TEST(offset(x, x.ldc) == 96);
  BOOST_TEST(offset(x, x.threads) == 104);
  BOOST_TEST(offset(x, x.result) == 108);
  BOOST_TEST(offset(x, x.epilogue) == 112);
  BOOST_TEST(sizeof(GemmCall) == 112 + sizeof(Epilogue));

  const GemmBatch batch;
  BOOST_TEST(offset(batch, batch.call) == 0);
  BOOST_TEST(offset(batch, batch.count) == static_cast<std::ptrdiff_t>(sizeof(GemmCall)));

  const ComplexGemmCall z;
  BOOST_TEST(offset(z, z.m) == 16);
  BOOST_TEST(offset(z, z.alpha) == 40);
  BOOST_TEST(offset(z, z.a) == 56);
  BOOST_TEST(offset(z, z.beta) == 88);
  BOOST_TEST(offset(z, z.c) == 104);
  BOOST_TEST(offset(z, z.threads) == 120);
  BOOST_TEST(offset(z, z.scratch) == 128);
  BOOST_TEST(sizeof(ComplexGemmCall) == 136u);
}

BOOST_AUTO_TEST_CASE(what_a_list_leaves_out_has_its_default) {
  const GemmCall call{{.type = DType::F64, .m = 2, .n = 3, .k = 4}};
  BOOST_TEST((call.shape() == GemmShape{.m = 2, .n = 3, .k = 4}));
  BOOST_TEST(call.alpha == 1.0);
  BOOST_TEST(call.beta == 0.0);
  BOOST_TEST((call.result == DType::F64));
  BOOST_TEST(call.epilogue.empty());
}

BOOST_AUTO_TEST_SUITE_END()
