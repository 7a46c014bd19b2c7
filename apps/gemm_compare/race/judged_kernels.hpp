#pragma once

/// The kernels of --kernel. Each of them adds an entry to every group and is run by the judge; see
/// apps/gemm_judge/README.md.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "check/product_check.hpp"
#include "gemm_judge/judge.hpp"
#include "plan.hpp"
#include "progress.hpp"
#include "result.hpp"

namespace tessera::compare_app {

class JudgedKernels {
 public:
  /// Compiles the sources. Throws InvalidArgument, IoError, or BackendUnavailable if a kernel needs CUDA and the
  /// machine has none.
  explicit JudgedKernels(const Options& options);

  std::size_t count() const { return kernels_.size(); }
  /// The entry before the kernel has run.
  Result pending(std::size_t kernel, const Group& group) const;
  /// Fills in times, errors and the verdict. `call`: operands in host memory, with C as it is before the product.
  /// `check` checks the result of every call; null where the call has no data but its shape. `peak`: see JudgeRequest.
  void run(std::size_t kernel, const GemmCall& call, ProductCheck* check, Progress& progress,
           const std::function<double(bool again)>& peak, Result& result);

 private:
  struct Judged {
    std::string name;
    std::unique_ptr<judge::KernelFile> file;
    std::map<DType, judge::JudgeVerdict> odd_shapes; ///< each type is tried once
  };
  const judge::JudgeVerdict& odd_shapes(Judged& judged, const judge::JudgeRequest& request);

  /// Says once on stderr which parts of the sandbox this machine does not have.
  void complain(const judge::JudgeVerdict& verdict, Progress& progress);

  const Options& options_;
  std::string complained_;
  std::vector<Judged> kernels_;
};

} // namespace tessera::compare_app
