#pragma once

/// The operations that --op names: gemm_compare's own, and the ones of the libraries of --op-plugin.

#include <string>
#include <vector>

#include <tessera/user_kernel/operation_table.hpp>

namespace tessera::compare_app {

struct NamedOperation {
  const OperationEntry* entry = nullptr;
  std::string file; ///< the library that has it; empty: gemm_compare itself
};

/// Returns gemm_compare's own operations and then the libraries', in their order. Throws IoError or InvalidArgument
/// where a file cannot be used, or where two operations have one name and one type.
std::vector<NamedOperation> all_operations(const std::vector<std::string>& files);

/// Returns the operations whose names match one of the words, which may be shell patterns, in the order of the words;
/// without words the libraries' own. Where `types` is not empty, only operations of these types. Throws InvalidArgument
/// with the names that there are.
std::vector<NamedOperation> choose_operations(const std::vector<NamedOperation>& all,
                                              const std::vector<std::string>& words, const std::vector<DType>& types);

/// Returns the bytes that an operation moves at these sizes, and the bytes of all its arrays.
struct OperationBytes {
  double moved = 0;
  double stored = 0;
};
OperationBytes bytes_of(const OperationEntry& entry, const OperationSizes& sizes);

/// Returns the floating-point operations at these sizes.
double flops_of(const OperationEntry& entry, const OperationSizes& sizes);

/// Returns the shapes of the arrays. Throws InvalidArgument where the operation gives a negative one.
std::vector<ArrayShape> shapes_of(const OperationEntry& entry, const OperationSizes& sizes);

} // namespace tessera::compare_app
