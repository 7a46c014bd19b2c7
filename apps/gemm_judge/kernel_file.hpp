#pragma once

/// The file with the kernel: a shared library, a source file, which is compiled into a library first, or a Python file.

#include <filesystem>
#include <optional>
#include <string>

#include "channel.hpp"
#include "offence.hpp"
#include "processes/left_behind.hpp"

namespace tessera::judge {

class KernelFile {
 public:
  /// Compiles a source; a library and a Python file are taken as they are. `device`: empty means CUDA for a .cu file
  /// and for a library that holds GPU code or needs a CUDA library, and the CPU for any other file. `flags`: compiler
  /// flags that replace the optimisation flags; empty: -O3 for .cu, else -O3 -march=native. Throws InvalidArgument if
  /// there is no such file or its kind is unknown, and IoError if no compiler or no Python is found. If the source does
  /// not compile, offence() says so.
  KernelFile(const std::string& path, std::optional<Device> device, const std::string& flags);
  KernelFile(const KernelFile&) = delete;
  KernelFile& operator=(const KernelFile&) = delete;

  const std::string& library() const noexcept { return library_; }
  /// Returns the Python that runs the file; empty for a library.
  const std::string& interpreter() const noexcept { return interpreter_; }
  Device device() const noexcept { return device_; }
  Offence offence() const noexcept { return offence_; }
  const std::string& compiler_output() const noexcept { return compiler_output_; }

 private:
  void compile(const std::filesystem::path& source, const std::string& flags);

  std::string library_; ///< or the Python file
  std::string interpreter_;
  Device device_ = Device::Cpu;
  Offence offence_ = Offence::None;
  std::string compiler_output_;
  std::optional<TemporaryFolder> folder_; ///< holds the compiled library
};

} // namespace tessera::judge
