/// What the lens makes of sources.

#include <algorithm>

#include <boost/test/unit_test.hpp>

#include <tessera/status.hpp>

#include "gemm_lens/rewrite.hpp"

namespace tessera::lens {

BOOST_AUTO_TEST_SUITE(rewriting_suite)

namespace {
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
std::string launch_of(const std::string& source) {
  const std::string text = rewrite(source);
  BOOST_TEST(!has(text, "<<<"));
  return text;
}
} // namespace

BOOST_AUTO_TEST_CASE(launches) {
  BOOST_TEST(launch_of("void f() { k<<<1, 32>>>(a, b); }") ==
             "void f() { ::tessera::lens::Launcher(\"k\", 1, 1, 32).run([&](auto&... tessera_lens_arguments) { "
             "k(tessera_lens_arguments...); }, a, b); }");
  BOOST_TEST(has(launch_of("n::k<float, (3 > 2), v<4>><<<dim3(g(1), 2), b, s >> 2, t>>>();"),
                 "Launcher(\"k\", 1, dim3(g(1), 2), b, s >> 2, t).run([&](auto&... tessera_lens_arguments) { "
                 "n::k<float, (3 > 2), v<4>>(tessera_lens_arguments...); })"));
  BOOST_TEST(has(launch_of("if (x) k<8> <<< g, b >>> ( f(\">>>(\"), 'c' );"), "f(\">>>(\"), 'c' "));
  BOOST_TEST(has(launch_of("return ::n::k<<<g, b>>>(x);"), "return ::tessera::lens::Launcher"));
  BOOST_TEST(
      has(launch_of("(*pointer)<<<g, b>>>(x); table[3]<<<g, b>>>(x);"), "{ table[3](tessera_lens_arguments...)"));
  // Lines keep their numbers.
  const std::string spread = launch_of("\nk<<<g,\n  b>>>(x,\n  y);\nlast");
  BOOST_TEST(has(spread, "Launcher(\"k\", 2,"));
  BOOST_TEST(std::count(spread.begin(), spread.end(), '\n') == 4);
  BOOST_CHECK_THROW(rewrite("k<<<g, b;"), InvalidArgument);
  BOOST_CHECK_THROW(rewrite("= <<<g, b>>>();"), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(what_stays) {
  for (const std::string text :
       {"const char* s = \"k<<<1, 2>>>(x) __shared__ asm\";", "auto s = R\"x(k<<<1, 2>>>(x) )\" __shared__)x\";",
        "char c = '\"'; int big = 1'000'000; a < b; c >> d; e << f; x<y<z>> w;",
        "__attribute__((__noinline__)) void f(); void g() __asm__(\"name\");\n"})
    BOOST_TEST(rewrite(text) == text);
  const std::string system = "# 1 \"/usr/include/x.h\" 1 3 4\nvoid f() { asm(\"nop\"); }\n";
  BOOST_TEST(rewrite(system) == system);
}

BOOST_AUTO_TEST_CASE(shared_memory) {
  const std::string two = rewrite("__shared__ float a[8][N + 1], b[4];");
  BOOST_TEST(has(two, "{ float  a[8][N + 1]; }") != has(two, "{  float  a[8][N + 1]; }"));
  BOOST_TEST(has(two, "sizeof(a), \"a\""));
  BOOST_TEST(has(two, "sizeof(b), \"b\""));
  BOOST_TEST(has(rewrite("__shared__ alignas(16) Tile<T, 8, (2 < 3)> t;"), "alignas(16) Tile<T, 8, (2 < 3)>"));
  BOOST_TEST(
      has(rewrite("extern __shared__ __attribute__((aligned(16))) double s[];"), "* const s = reinterpret_cast<"));
  BOOST_TEST(!has(rewrite("extern __shared__ float s[];"), "extern"));
  BOOST_TEST(!has(rewrite("static __shared__ volatile int x;"), "__shared__"));
}

BOOST_AUTO_TEST_CASE(instructions) {
  BOOST_TEST(rewrite("asm(\"\" : \"+r\"(x));") == "((void)0);");
  BOOST_TEST(has(rewrite("asm volatile(\"bar.sync \" \"0;\" ::: \"memory\");"), "unsupported(\"bar.sync \"\"0;\")"));
  BOOST_TEST(rewrite("#pragma unroll\nfor (;;) {}") == "#pragma GCC unroll 1024\nfor (;;) {}");
  BOOST_TEST(rewrite("#pragma unroll 4\nfor (;;) {}") == "#pragma GCC unroll 4\nfor (;;) {}");
  BOOST_TEST(rewrite("#pragma unroll (1)\nwhile (x) {}") == "#pragma GCC unroll 1\nwhile (x) {}");
  BOOST_TEST(rewrite("#pragma unroll\nx();") == "\nx();");
  BOOST_TEST(rewrite("__noinline__ void f();") == "__attribute__((noinline)) void f();");
}

BOOST_AUTO_TEST_CASE(one_rung_of_a_file) {
  const std::string all = "const GemmKernel a_f32 = rung<float>;\nconst GemmKernel a_f64 = rung<double>;\n";
  BOOST_TEST(rewrite(all, "a_f64") == "\nconst GemmKernel a_f64 = rung<double>;\n");
  BOOST_TEST(rewrite(all) == all);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens
