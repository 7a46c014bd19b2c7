/// Executors, lists, matrices and files while memory is short.

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include <tessera/backend.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/linear_algebra/batch.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/performance/tuning.hpp>
#include <tessera/tessera.hpp>

#include "products.hpp"
#include "support/files.hpp"

using namespace tessera;
using namespace memory_test;
using tessera::test::Folder;
using tessera::test::npy_bytes;

namespace {

/// An entry point whose result is a text, which a call replaces when it succeeds.
EntryPoint text_entry(std::string name, std::function<std::string()> call) {
  const auto text = std::make_shared<std::string>();
  return {.name = std::move(name),
          .reset = [text] { text->clear(); },
          .call = [text, call] { *text = call(); },
          .result = [text] { return *text; }};
}

std::string describe(Executor& executor) {
  const Uncounted here;
  const Capabilities& machine = executor.capabilities();
  std::string text = machine.device;
  text.append(" ").append(machine.instruction_set).append(" ").append(std::to_string(machine.threads));
  text.append(" ").append(std::to_string(machine.memory_bytes)).append(" ").append(std::to_string(machine.l2_bytes));
  return text;
}

} // namespace

BOOST_AUTO_TEST_SUITE(backends)

BOOST_AUTO_TEST_CASE(executors) {
  for (const Backend backend : {Backend::Reference, Backend::Tbb})
    check_first_use(
        text_entry("executor, " + std::string(to_string(backend)), [backend] { return describe(executor(backend)); }));
}

BOOST_AUTO_TEST_CASE(lists) {
  check_first_use(text_entry("gemm_kernels", [] {
    const auto kernels = gemm_kernels(Backend::OpenMP);
    const auto reductions = reduce_kernels(Backend::OpenMP);
    const Uncounted here;
    std::string names;
    for (const GemmKernel& kernel : kernels) names.append(kernel.name).append(" ");
    for (const ReduceKernel& kernel : reductions) names.append(kernel.name).append(" ");
    return names;
  }));
  const auto all = text_entry("available_backends", [] {
    const std::vector<BackendInfo> infos = available_backends();
    const Uncounted here;
    std::string text;
    for (const BackendInfo& info : infos)
      text.append(to_string(info.backend)).append(info.available ? "+" : "-").append(info.path).append(" ");
    return text;
  });
  check_first_use(all);
  check_later_use(all);
  check_later_use(text_entry("known_backends", [] { return std::to_string(known_backends().size()); }));
}

BOOST_AUTO_TEST_CASE(a_plugin_of_another_author) {
  ::setenv("TESSERA_PLUGIN_PATH", PLUGIN_DIR "/standin", 1);
  check_first_use(
      text_entry("parse_backend", [] { return std::to_string(static_cast<int>(parse_backend("standin"))); }));
  check_first_use(text_entry("known_backends", [] { return std::to_string(known_backends().size()); }));
  ::unsetenv("TESSERA_PLUGIN_PATH");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(matrices)

BOOST_AUTO_TEST_CASE(operations) {
  const auto x = std::make_shared<Matrix<float>>(), y = std::make_shared<Matrix<float>>();
  // Operands are made in the child, since the parent uses no executor.
  const auto operation = [&](const char* name, auto compute) {
    const auto result = std::make_shared<Matrix<float>>();
    check_later_use({.name = name,
                     .reset =
                         [=] {
                           if (x->empty()) {
                             *x = Matrix<float>::random(70, 50, Seed{1});
                             *y = Matrix<float>::random(70, 50, Seed{2});
                           }
                           *result = Matrix<float>();
                         },
                     .call = [=] { *result = compute(*x, *y); },
                     .result =
                         [=] {
                           std::string text;
                           for (Index i = 0; i < result->rows(); ++i)
                             text.append(reinterpret_cast<const char*>(result->row(i).data()),
                                         result->row(i).size_bytes());
                           return text;
                         }});
  };
  using M = const Matrix<float>;
  operation("a + b", [](M& a, M& b) { return a + b; });
  operation("2·a", [](M& a, M&) { return 2.0f * a; });
  operation("hadamard", [](M& a, M& b) { return hadamard(a, b); });
  operation("transpose", [](M& a, M&) { return transpose(a); });
  operation("aᵀ + bᵀ", [](M& a, M& b) { return a.transposed() + b.transposed(); });
  operation("least_squares", [](M& a, M& b) { return least_squares(a, b); });
  operation("copy", [](M& a, M&) { return Matrix<float>(a); });
  operation("random", [](M&, M&) { return Matrix<float>::random(30, 40, Seed{7}); });
  operation("matrix_cast", [](M& a, M&) { return matrix_cast<float>(matrix_cast<bf16>(a)); });
}

BOOST_AUTO_TEST_CASE(batches_of_systems) {
  constexpr Index n = 9, count = 40;
  const auto systems = std::make_shared<HostProduct<float>>(n * count, 1, n);
  for (Index i = 0; i < n * count; ++i) systems->a[static_cast<std::size_t>(i * n + i % n)] = 20;
  const auto batch = [&](const char* name, auto compute) {
    check_later_use({.name = name,
                     .reset = [=] { systems->reset(); },
                     .call = [=] { compute(systems->a.data(), systems->c.data()); },
                     .result = [=] { return systems->bytes(); }});
  };
  batch("solve_batch", [](const float* a, float* b) {
    solve_batch(n, 1, a, n, n * n, b, 1, n, nullptr, count, {.backend = Backend::OpenMP, .threads = 2});
  });
  batch("solve_batch with one matrix", [](const float* a, float* b) {
    solve_batch(n, 1, a, n, 0, b, 1, n, nullptr, count, {.backend = Backend::OpenMP});
  });
  batch("solve_positive_batch by pointers", [](const float* a, float* b) {
    const float* const from[] = {a, a + n * n};
    float* const to[] = {b + n, b};
    solve_positive_batch(Triangle::Lower, n, 1, from, n, to, 1, nullptr, 2, {.backend = Backend::OpenMP});
  });
}

BOOST_AUTO_TEST_CASE(numbers) {
  const auto x = std::make_shared<Matrix<float>>();
  const auto number = [&](const char* name, auto compute) {
    const auto result = std::make_shared<double>();
    check_later_use(
        {.name = name,
         .reset =
             [=] {
               if (x->empty()) *x = Matrix<float>::random(700, 300, Seed{1});
               *result = -1;
             },
         .call = [=] { *result = compute(*x); },
         .result = [=] { return std::string(reinterpret_cast<const char*>(result.get()), sizeof *result); }});
  };
  using M = const Matrix<float>;
  const auto whole = std::make_shared<std::vector<std::int32_t>>(200000, 1000);
  number("sum_of_squares of whole numbers",
         [whole](M&) { return static_cast<double>(sum_of_squares(*whole, Backend::OpenMP)); });
  number("norm_frobenius", [](M& a) { return a.norm_frobenius(); });
  number("norm_one", [](M& a) { return a.norm_one(); });
  number("norm_inf", [](M& a) { return a.norm_inf(); });
  number("norm_max of a transpose", [](M& a) { return Matrix<float>(a.transposed()).norm_max(); });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(files)

namespace {

/// Writes a file; the result is what is in the folder.
template <class Save>
EntryPoint saving(std::string name, const Folder& folder, Save save) {
  return {.name = std::move(name),
          .reset = [&folder] { folder.write("file", "what was there before"); },
          .call = [path = folder.path() / "file", save] { save(path); },
          .result =
              [&folder] {
                std::string text = folder.read("file");
                for (const std::string& other : folder.names())
                  if (other != "file") text += " and left " + other;
                return text;
              }};
}

template <class Load>
EntryPoint loading(std::string name, Load load) {
  const auto result = std::make_shared<Matrix<float>>();
  return {.name = std::move(name),
          .reset = [result] { *result = Matrix<float>(); },
          .call = [result, load] { *result = load(); },
          .result =
              [result] {
                std::string text;
                for (Index i = 0; i < result->rows(); ++i)
                  text.append(reinterpret_cast<const char*>(result->row(i).data()), result->row(i).size_bytes());
                return text;
              }};
}

const TuningTable table{
    Backend::OpenMP, "a processor", "none", 1, {{DType::F32, Math::Strict, 64, 64, 64, "simd_direct", 1e-6}}};

} // namespace

BOOST_AUTO_TEST_CASE(matrices_in_files) {
  const Folder folder;
  const auto m = std::make_shared<Matrix<float>>();
  const auto matrix = [m]() -> const Matrix<float>& { // made in the child
    if (m->empty()) *m = Matrix<float>::random(20, 10, Seed{1});
    return *m;
  };
  check_later_use(saving("save_npy", folder, [=](const auto& path) { save_npy(path, matrix()); }));
  check_later_use(
      saving("save_npy bf16", folder, [=](const auto& path) { save_npy(path, matrix_cast<bf16>(matrix())); }));
  check_later_use(saving("save_csv", folder, [=](const auto& path) { save_csv(path, matrix()); }));
  const auto npy = folder.path() / "a.npy", columns = folder.path() / "columns.npy", csv = folder.path() / "a.csv";
  folder.write("a.csv", "1, 2, 3.5\n# a comment\n4, 5, 6.25\n");
  const std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  folder.write("a.npy", npy_bytes("<f4", false, "(2, 3)", numbers));
  folder.write("columns.npy", npy_bytes("<f4", true, "(2, 3)", numbers));
  check_later_use(loading("load_npy", [npy] { return load_npy<float>(npy); }));
  check_later_use(loading("load_npy, Fortran order", [columns] { return load_npy<float>(columns); }));
  check_later_use(loading("load_csv", [csv] { return load_csv<float>(csv); }));
  check_later_use(text_entry("inspect_npy", [npy] { return std::to_string(inspect_npy(npy).cols); }));
}

BOOST_AUTO_TEST_CASE(tables) {
  const Folder folder;
  check_later_use(saving("save_tuning", folder, [](const auto& path) { save_tuning(path, table); }));
  const auto path = folder.path() / "table.json";
  folder.write("table.json",
               R"({"schema": "tessera.tuning/1", "backend": "openmp", "device": "a processor", "driver": "",
    "products": [{"dtype": "f32", "math": "strict", "m": 64, "n": 64, "k": 64, "kernel": "simd", "seconds": 1e-6}]})");
  check_later_use(text_entry("load_tuning", [path] { return load_tuning(path).products.at(0).kernel; }));
}

BOOST_AUTO_TEST_SUITE_END()
