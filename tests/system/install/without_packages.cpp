// A program with a libtessera that was built without xtensor and without nlohmann_json: what needs them throws, and
// says what is missing. Everything else is there.

#include <filesystem>
#include <iostream>
#include <string>

#include <tessera/checking/check.hpp>
#include <tessera/interop/io.hpp>
#include <tessera/performance/tuning.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

template <class Action>
bool says(Action action, const std::string& package) try {
  action();
  std::cout << "nothing was thrown where " << package << " is missing\n";
  return false;
} catch (const Error& error) {
  std::cout << error.what() << '\n';
  return std::string(error.what()).find("built without " + package) != std::string::npos;
}

int main() {
  const auto file = std::filesystem::temp_directory_path() / "tessera_without_packages.npy";
  const auto a = Matrix<float>::random(3, 4, Seed{1});
  save_npy(file, a);
  bool right = load_npy<float>(file) == a;
  std::filesystem::remove(file);
  right = says([&] { save_csv("a.csv", a); }, "xtensor") && right;
  right = says([] { load_tuning("a.json"); }, "nlohmann_json") && right;
  right = says([] { save_tuning("a.json", {}); }, "nlohmann_json") && right;
  right = says([] { to_json(Certificate{}); }, "nlohmann_json") && right;
  return right ? 0 : 1;
}
