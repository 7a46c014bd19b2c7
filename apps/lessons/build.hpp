#pragma once

/// Compiles a lesson's file behind its adapter.

#include <filesystem>
#include <string>

#include "catalogue.hpp"
#include "gemm_judge/kernel_file.hpp"

namespace tessera::lessons {

/// The variants of a kernel.
enum class Purpose {
  Run,   ///< fast, for the judge and for the clock; a GPU's kernel is compiled by nvcc
  Count, ///< counts its accesses to memory, on the processor alone
};

/// Returns "" where kernels of a GPU can be compiled and timed, else a sentence that says what is missing.
std::string why_not_timed();

/// Returns the root of the sources that this program was built from. Throws IoError if it is no longer there.
std::filesystem::path source_root();

/// A file compiled to a library, in a folder of its own that ends with the object.
class Built {
 public:
  /// Throws IoError if there is no compiler. If the file does not compile, is_good() is false.
  Built(const Lesson& lesson, const std::filesystem::path& file, Purpose purpose);
  ~Built() = default;
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;

  bool is_good() const noexcept { return good_; }
  /// Returns what the compiler said, as it said it.
  const std::string& compiler_output() const noexcept { return output_; }
  std::string library() const { return (folder_.path() / "kernel.so").string(); }

 private:
  void compile_for_processor(const Lesson& lesson, const std::filesystem::path& file, Purpose purpose);
  void compile_for_gpu(const Lesson& lesson, const std::filesystem::path& file);

  judge::TemporaryFolder folder_;
  bool good_ = false;
  std::string output_;
};

/// Returns the line of the sources of an instruction, as "transposed.cpp:17", or "" where it is not known. `place`:
/// bytes from the library's start.
std::string line_of(const std::string& library, double place);

} // namespace tessera::lessons
