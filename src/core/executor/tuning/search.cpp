/// The search for tuning tables.

#include <cctype>

#include <tessera/backend/environment.hpp>
#include <tessera/backend/log.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "tuned_kernels.hpp"

namespace tessera {

namespace fs = std::filesystem;

namespace {

fs::path user_folder() {
  const fs::path cache = user_cache_folder();
  return cache.empty() ? cache : cache / "tuning";
}

void check_machine(const Capabilities& machine, const TuningTable& table, const fs::path& path) {
  if (table.device != machine.device)
    throw IoError("tuning table " + path.string() + " is for " + table.device + ", but this is " + machine.device +
                  "; name another one in TESSERA_TUNING, or none");
  if (table.revision != machine.kernel_revision)
    throw IoError("tuning table " + path.string() + " is for revision " + std::to_string(table.revision) +
                  " of the kernels, but these are of revision " + std::to_string(machine.kernel_revision) +
                  "; make it anew with gemm_compare tune");
}

} // namespace

std::string tuning_file_name(const Capabilities& machine) {
  std::string name = std::string(to_string(machine.backend)) + '-';
  for (const char c : machine.device) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain)
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (name.back() != '-')
      name += '-';
  }
  while (name.back() == '-') name.pop_back();
  return name + ".json";
}

std::filesystem::path tuning_target(const Capabilities& machine) {
  const fs::path folder = user_folder();
  return folder.empty() ? fs::path() : folder / tuning_file_name(machine);
}

std::shared_ptr<const detail::TunedKernels> detail::find_tuned_kernels(const Executor& executor,
                                                                       const fs::path& beside) {
  const Capabilities& machine = executor.capabilities();
  const auto use = [&](const fs::path& path) -> std::shared_ptr<const TunedKernels> {
    const TuningTable table = load_tuning(path);
    if (table.backend != machine.backend) return nullptr; // TESSERA_TUNING may name the table of another backend
    check_machine(machine, table, path);
    if (log_dispatch())
      log_line("backend " + std::string(to_string(machine.backend)) + " chooses kernels by " + path.string() + ", " +
               std::to_string(table.products.size()) + " products measured with " + table.driver);
    return std::make_shared<const TunedKernels>(table, executor.gemm_kernels(), executor.capabilities());
  };
  const std::string name = tuning_file_name(machine);
  if (const char* named = trusted_variable("TESSERA_TUNING"); named != nullptr && *named != '\0') {
    const fs::path path = named;
    if (path == "none") return nullptr;
    std::error_code error;
    if (!fs::is_directory(path, error)) return use(path);
    if (fs::exists(path / name, error)) return use(path / name);
    if (log_dispatch()) log_line("TESSERA_TUNING: no table for this machine in " + path.string() + ": no " + name);
    return nullptr;
  }
  for (const fs::path& folder : {user_folder(), beside.empty() ? fs::path() : beside / "tuning"}) {
    std::error_code error;
    if (folder.empty()) continue;
    if (!fs::exists(folder / name, error)) {
      if (error && log_dispatch()) log_line("passed over: " + (folder / name).string() + ": " + error.message());
      continue;
    }
    try {
      return use(folder / name);
    } catch (const IoError& why) {
      if (log_dispatch()) log_line(std::string("passed over: ") + why.what());
    }
  }
  return nullptr;
}

} // namespace tessera
