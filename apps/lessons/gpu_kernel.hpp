#pragma once

/// A GPU lesson's kernel, which the lens compiles for the processor and looks at: no GPU and no nvcc are needed.

#include <filesystem>
#include <memory>
#include <string>

#include "catalogue.hpp"
#include "gemm_judge/processes/left_behind.hpp"
#include "gemm_lens/report.hpp"
#include "trying.hpp"

namespace tessera::lessons {

/// Returns the text of the adapter around a lesson's file. `dump`: the file that takes the operands and C after a call;
/// empty: none.
std::string gpu_adapter(const std::filesystem::path& file, const std::filesystem::path& dump);

class GpuKernel {
 public:
  /// Compiles. Throws IoError if there is no GCC. If the file does not compile, is_good() is false.
  explicit GpuKernel(const std::filesystem::path& file);
  ~GpuKernel();
  GpuKernel(const GpuKernel&) = delete;
  GpuKernel& operator=(const GpuKernel&) = delete;

  bool is_good() const noexcept { return program_ != nullptr; }
  const std::string& compiler_output() const noexcept { return output_; }

  /// Runs the kernel once. `report` takes what the lens saw.
  Calls call(const Case& tried, double seconds, lens::Report* report = nullptr) const;

 private:
  struct Compiled;
  judge::TemporaryFolder folder_;
  std::unique_ptr<Compiled> program_;
  std::string output_;
};

/// Returns what the lesson's counter counts in a report.
double counted_in(const lens::Report& report, Counter counter, const Case& tried);

} // namespace tessera::lessons
