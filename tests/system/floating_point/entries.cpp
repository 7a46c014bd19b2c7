/// The library's entries that are no work of an executor: what reads, writes, prints and draws numbers has the same
/// results from callers in every floating-point state, and leaves the state.

#include <fcntl.h>
#include <unistd.h>
#include <sstream>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.h>
#include <tessera/checking/check.hpp>
#include <tessera/checking/compare.hpp>
#include <tessera/complex.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/tessera.hpp>

#include "states.hpp"
#include "support/files.hpp"
#include "tasks.hpp"

namespace tessera::test {
namespace {

constexpr Index tall = 37, wide = 29;

/// An entry, which returns all that it made as bytes. It does not compute by itself.
struct Entry {
  std::string name;
  std::function<std::string()> run;
};

/// Reads a file by system calls alone, because libstdc++ computes with double where it joins paths.
std::string contents(const std::string& name) {
  std::string all;
  const int file = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  char bytes[4096];
  for (ssize_t count = 0; (count = ::read(file, bytes, sizeof bytes)) > 0;)
    all.append(bytes, static_cast<std::size_t>(count));
  close(file);
  return all;
}

/// A matrix of numbers with exponents least … most.
template <class T>
Matrix<T> matrix_of(int least, int most) {
  const std::vector<T> all = numbers<T>(static_cast<std::size_t>(tall * wide), least, most);
  Matrix<T> x(tall, wide);
  for (Index i = 0; i < tall; ++i)
    for (Index j = 0; j < wide; ++j) x(i, j) = all[static_cast<std::size_t>(i * wide + j)];
  return x;
}

/// The elements without the padding of rows.
template <class T>
std::string elements_of(const Matrix<T>& x) {
  std::string all;
  for (Index i = 0; i < x.rows(); ++i)
    all.append(reinterpret_cast<const char*>(x.row(i).data()), static_cast<std::size_t>(x.cols()) * sizeof(T));
  return all;
}

template <class T>
void add_files(std::vector<Entry>& all, const Folder& folder, const std::string& what, int least, int most) {
  const auto x = matrix_of<T>(least, most);
  const std::string type(to_string(dtype_of<T>)), name = type + ", " + what + ": ";
  const auto csv = folder.path() / (type + what + ".csv"), npy = folder.path() / (type + what + ".npy"),
             out = folder.path() / "out";
  save_csv(csv, x);
  save_npy(npy, x);
  const auto read = [name_of_out = out.string()] { return contents(name_of_out); };
  all.push_back({name + "save_csv", [=] { return save_csv(out, x), read(); }});
  all.push_back({name + "save_csv of a transpose", [=] { return save_csv(out, x.transposed()), read(); }});
  all.push_back({name + "load_csv", [=] { return elements_of(load_csv<T>(csv)); }});
  all.push_back({name + "save_npy", [=] { return save_npy(out, x), read(); }});
  all.push_back({name + "save_npy of a transpose", [=] { return save_npy(out, x.transposed()), read(); }});
  all.push_back({name + "load_npy", [=] { return elements_of(load_npy<T>(npy)); }});
  all.push_back({name + "printing", [=] {
                   std::ostringstream text;
                   text << x;
                   return text.str();
                 }});
}

template <class T>
void add_draws(std::vector<Entry>& all, Distribution distribution, double low, double high) {
  const auto lowest = static_cast<Scalar<T>>(low), highest = static_cast<Scalar<T>>(high);
  all.push_back({"random " + std::string(to_string(dtype_of<T>)) + ", distribution " +
                     std::to_string(static_cast<int>(distribution)),
                 [=] { return elements_of(Matrix<T>::random(tall, wide, Seed{3}, distribution, lowest, highest)); }});
}

void add_checks(std::vector<Entry>& all, int least, int most) {
  const auto a = matrix_of<float>(least, most), b = transpose(matrix_of<float>(least, most));
  auto c = gemm(a, b, Backend::Reference);
  c(2, 3) = c(2, 3) + c(1, 1);
  const std::string what = " with exponents from " + std::to_string(least);
  const Certificate certificate = check(a, b, c);
  all.push_back({"check" + what, [=] { return to_json(check(a, b, c)); }});
  all.push_back({"to_text" + what, [=] { return to_text(certificate); }});
  all.push_back({"to_json" + what, [=] { return to_json(certificate, 1); }});
}

void add_conversions(std::vector<Entry>& all) {
  const auto x = matrix_of<double>(-160, -120);
  const auto y = matrix_of<float>(-30, -10);
  all.push_back({"matrix_cast to f32", [=] { return elements_of(matrix_cast<float>(x)); }});
  all.push_back({"matrix_cast to f16", [=] { return elements_of(matrix_cast<f16>(y)); }});
  all.push_back({"matrix_cast to bf16", [=] { return elements_of(matrix_cast<bf16>(y)); }});
  all.push_back({"norms", [=] {
                   const double norms[]{x.norm_frobenius(), x.norm_one(), x.norm_inf(), y.norm_sum(), y.norm_max()};
                   return std::string(reinterpret_cast<const char*>(norms), sizeof norms);
                 }});
  all.push_back({"an error's text", [] {
                   try {
                     static_cast<void>(Matrix<float>::random(2, 2, Seed{1}, Distribution::Uniform, 0x1p-140f, -0.1f));
                   } catch (const InvalidArgument& error) {
                     return std::string(error.what());
                   }
                   return std::string();
                 }});
  all.push_back(
      {"C", [=] {
         std::vector<float> z(static_cast<std::size_t>(tall * tall));
         const int status = tessera_gemm_f32(TESSERA_NONE, TESSERA_TRANSPOSE, tall, tall, wide, 1.0f, y.data(), y.ld(),
                                             y.data(), y.ld(), 0.0f, z.data(), tall, nullptr);
         return std::to_string(status) + std::string(reinterpret_cast<const char*>(z.data()), z.size() * sizeof(float));
       }});
}

/// Entries that compute nothing themselves, but join paths or load libraries.
void add_searches(std::vector<Entry>& all, const Folder& folder) {
  const auto npy = folder.path() / "searched.npy", out = folder.path() / "out";
  save_npy(npy, matrix_of<float>(-4, 4));
  all.push_back({"inspect_npy", [=] { return std::to_string(inspect_npy(npy).rows); }});
  all.push_back({"load_checked_npy", [=] {
                   const CheckedFile file = load_checked_npy(npy);
                   return std::string(file.bytes.data(), file.bytes.size());
                 }});
  all.push_back({"write_text_file", [out, name = out.string()] {
                   write_text_file(out, "text");
                   check_writable(out);
                   return contents(name);
                 }});
  all.push_back({"read_text_file", [=] { return read_text_file(npy); }});
  all.push_back({"user_cache_folder", [] { return user_cache_folder().string() + "."; }});
  all.push_back({"a word that names no backend", [] {
                   try {
                     return std::string(to_string(parse_backend("no_such_backend")));
                   } catch (const InvalidArgument& error) {
                     return std::string(error.what());
                   }
                 }});
  all.push_back({"available_backends", [] {
                   std::string names;
                   for (const BackendInfo& info : available_backends()) names += std::string(to_string(info.backend));
                   return names;
                 }});
}

} // namespace

BOOST_AUTO_TEST_SUITE(entries)

BOOST_AUTO_TEST_CASE(each_entry_has_the_same_results_in_every_state_and_leaves_it) {
  const Folder folder;
  std::vector<Entry> all;
  add_files<float>(all, folder, "ordinary", -4, 4);
  add_files<float>(all, folder, "subnormal", -149, -127);
  add_files<double>(all, folder, "ordinary", -4, 4);
  add_files<double>(all, folder, "subnormal", -1074, -1023);
  add_files<f16>(all, folder, "subnormal", -24, -10);
  add_files<bf16>(all, folder, "subnormal", -133, -120);
  add_draws<float>(all, Distribution::Uniform, 100, 101);
  add_draws<float>(all, Distribution::Uniform, -0x1p-140, 0x1p-141);
  add_draws<float>(all, Distribution::Uniform, -0x1.fffffep127, 0x1.fffffep127);
  add_draws<double>(all, Distribution::Uniform, -0x1p-1070, 0x1p-1071);
  add_draws<f16>(all, Distribution::Uniform, -0x1p-15, 0x1p-16);
  add_draws<double>(all, Distribution::Normal, 0.1, 0.3);
  add_draws<float>(all, Distribution::Special, 0.1, 0.5);
  add_checks(all, -3, 3);
  add_checks(all, -75, -62);
  add_conversions(all);
  add_searches(all, folder);
  for (const Entry& entry : all) {
    const std::string expected = entry.run();
    BOOST_TEST(!expected.empty(), entry.name);
    for (const CallersState& state : callers_states()) {
      std::string found;
      const bool left = leaves_state(state, [&] { found = entry.run(); });
      BOOST_TEST((found == expected), entry.name << " differs under " << state.name);
      BOOST_TEST(left, entry.name << " changed the caller's state under " << state.name);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
