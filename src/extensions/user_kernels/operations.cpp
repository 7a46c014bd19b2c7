/// Loads libraries of operations.

#include <filesystem>
#include <new>

#include <tessera/backend/fork.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/status.hpp>
#include <tessera/user_kernel/operation_table.hpp>

#include "core/backends/shared_library.hpp"

namespace tessera {

std::span<const OperationEntry> load_operations(const std::string& file) try {
  const WholeAcrossFork action;
  const detail::ContractArithmetic contract; // a library made with -ffast-math changes the state as it is loaded
  std::error_code error;
  // dlopen() looks for a name without a slash in the system's folders.
  const std::filesystem::path path = std::filesystem::absolute(file, error);
  if (error || !std::filesystem::is_regular_file(path, error))
    throw IoError("there is no library of operations " + path.string() + (error ? ": " + error.message() : ""));
  const OpenedLibrary opened =
      open_library(path, operation_table_function_name, "library of operations (TESSERA_OPERATIONS)");
  if (opened.function == nullptr) throw InvalidArgument(opened.reason);
  const OperationTable* table = reinterpret_cast<OperationTableFunction>(opened.function)();
  std::string why =
      table != nullptr ? header_mismatch(*table, "OperationTable", operation_table_abi) : "it has no table";
  if (why.empty()) why = bound_elsewhere(table->bound_to);
  if (!why.empty()) throw InvalidArgument("cannot use " + path.string() + ": " + why);
  return {table->entries, table->count};
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera
