#pragma once

/// A kernel as the user gives it: a shared library, or a source file that is compiled into one first.

#include <filesystem>
#include <optional>
#include <string>

#include "channel.hpp"
#include "left_behind.hpp"
#include "offence.hpp"

namespace tessera::judge {

class KernelFile {
 public:
  /// Compiles if need be. `device`: what the user says; otherwise a .cu file and a library with GPU code or CUDA's
  /// runtime in it are for CUDA, everything else for the CPU. `flags`: replace the optimisation flags; empty: -O3.
  /// Throws InvalidArgument if there is no such file or its kind is unknown, and IoError if no compiler is found.
  /// A source that does not compile is the kernel's offence: see offence().
  KernelFile(const std::string& path, std::optional<Device> device, const std::string& flags);
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;

  const std::string& library() const noexcept { return library_; }
  Device device() const noexcept { return device_; }
  Offence offence() const noexcept { return offence_; }
  const std::string& compiler_output() const noexcept { return compiler_output_; }

 private:
  void compile(const std::filesystem::path& source, const std::string& flags);

  std::string library_;
  Device device_ = Device::Cpu;
  Offence offence_ = Offence::None;
  std::string compiler_output_;
  std::optional<TemporaryFolder> folder_; ///< if something was compiled
};

} // namespace tessera::judge
