#pragma once

/// Reads the files of --a, --b and --c, and writes the file of --out.

#include <cstddef>
#include <memory>
#include <vector>

#include "operands.hpp"

namespace tessera::compare_app {

struct FileOperands {
  DType type = DType::F32;
  GemmShape shape;
};

/// Reads the headers of A's and B's files, but no elements. Throws IoError, or InvalidArgument if the shapes or the
/// types do not fit together.
FileOperands inspect_files(const Options& options);

/// Checks the header of the file of --c, if it was given, against the type of the result.
void check_file_c(const Options& options, const FileOperands& product);

/// The loaded matrices.
class DataFiles {
 public:
  /// Throws IoError and OutOfMemory.
  DataFiles(const Options& options, DType type);
  ~DataFiles();
  const GivenData& given() const { return given_; }

 private:
  struct Matrices;
  std::unique_ptr<Matrices> matrices_;
  GivenData given_;
};

/// Writes a result laid out as `c` to options.file_out. Throws IoError.
void write_product(const Options& options, const Stored& c, const std::vector<std::byte>& elements);

} // namespace tessera::compare_app
