/// Runs every target on its inputs in corpus/, without libFuzzer. Each target must have some, and each folder a target.
/// Usage: tessera_fuzz_replay CORPUS. With further arguments, TARGET FILE..., it runs the target on these files alone.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "target.hpp"

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

std::map<std::string, Target>& targets() {
  static std::map<std::string, Target> all;
  return all;
}

void run_on_file(const std::string& name, Target target, const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  require(file.good() || file.eof(), name + ": cannot read " + path.string());
  // A copy of just these bytes lets AddressSanitizer notice a byte more.
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  std::fprintf(stderr, "%s\n", path.c_str()); // the last line names the input if the process ends
  target(bytes.data(), bytes.size());
}

int replay(const fs::path& corpus) {
  int missing = 0;
  for (const auto& [name, target] : targets()) {
    std::vector<fs::path> files;
    if (fs::is_directory(corpus / name))
      for (const auto& entry : fs::directory_iterator(corpus / name)) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) run_on_file(name, target, file);
    std::printf("%s: %zu inputs\n", name.c_str(), files.size());
    if (files.empty()) ++missing;
  }
  for (const auto& entry : fs::directory_iterator(corpus))
    if (!targets().contains(entry.path().filename().string())) {
      std::printf("%s: no target has this name\n", entry.path().c_str());
      ++missing;
    }
  return missing;
}

} // namespace

bool add_target(const char* name, Target target) { return targets().emplace(name, target).second; }

} // namespace tessera::fuzz

int main(int argc, char** argv) {
  using namespace tessera::fuzz;
  if (argc < 2) {
    std::fputs("usage: tessera_fuzz_replay CORPUS [TARGET FILE...]\n", stderr);
    return 2;
  }
  if (argc == 2) return replay(argv[1]);
  const auto target = targets().find(argv[2]);
  require(target != targets().end(), std::string("no target ") + argv[2]);
  for (int i = 3; i < argc; ++i) run_on_file(target->first, target->second, argv[i]);
  return 0;
}
