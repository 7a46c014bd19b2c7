#include "catalogue.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "built_in.hpp"
#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

std::string owner(const NamedOperation& operation) {
  return operation.file.empty() ? "gemm_compare itself" : operation.file;
}

void add(std::vector<NamedOperation>& all, const NamedOperation& operation) {
  const std::string name = operation.entry->name;
  const std::string type(to_string(operation.entry->type));
  if (name == "gemm" || name == "sum_of_squares")
    throw InvalidArgument(
        fmt::format("--op-plugin: {} calls an operation '{}', which is the library's own; give it another name",
                    owner(operation), name));
  for (const NamedOperation& other : all)
    if (other.entry->name == name && other.entry->type == operation.entry->type)
      throw InvalidArgument(
          fmt::format("--op-plugin: {} has an operation '{}' of {}, and so has {}; rename one of them",
                      owner(operation), name, type, owner(other)));
  all.push_back(operation);
}

/// The names, each once, with the library's own in front.
std::vector<std::string> names_of(const std::vector<NamedOperation>& all) {
  std::vector<std::string> names{"gemm", "sum_of_squares"};
  for (const NamedOperation& operation : all)
    if (std::find(names.begin(), names.end(), operation.entry->name) == names.end())
      names.emplace_back(operation.entry->name);
  return names;
}

double indices(const OperationSizes& sizes) {
  return static_cast<double>(sizes.m) * static_cast<double>(sizes.n) * static_cast<double>(sizes.k);
}

} // namespace

std::vector<NamedOperation> all_operations(const std::vector<std::string>& files) {
  std::vector<NamedOperation> all;
  for (const OperationEntry& entry : built_in_operations()) add(all, {&entry, {}});
  for (const std::string& file : files)
    for (const OperationEntry& entry : load_operations(file)) add(all, {&entry, file});
  return all;
}

std::vector<NamedOperation> choose_operations(const std::vector<NamedOperation>& all,
                                              const std::vector<std::string>& words, const std::vector<DType>& types) {
  std::vector<NamedOperation> chosen;
  const auto choose = [&](const std::string& word, const auto& matches) {
    std::vector<std::string> others;
    bool any = false;
    for (const NamedOperation& operation : all) {
      if (!matches(operation)) continue;
      if (!types.empty() && std::find(types.begin(), types.end(), operation.entry->type) == types.end()) {
        others.push_back(fmt::format("'{}' of {}", operation.entry->name, to_string(operation.entry->type)));
        continue;
      }
      any = true;
      const auto same = [&](const NamedOperation& other) { return other.entry == operation.entry; };
      if (std::none_of(chosen.begin(), chosen.end(), same)) chosen.push_back(operation);
    }
    if (any) return;
    if (!others.empty())
      throw InvalidArgument(fmt::format("--dtype: no operation of these types matches '{}'; there is {}", word,
                                        apps::joined(others, ", ")));
    const std::vector<std::string> names = names_of(all);
    throw InvalidArgument(
        fmt::format("--op: unknown operation '{}'; did you mean '{}'? Known: {}. --op-plugin adds "
                    "operations of your own",
                    word, nearest_word(word, names), apps::joined(names, " ")));
  };
  for (const std::string& word : words)
    choose(word, [&](const NamedOperation& operation) { return apps::matches_glob(word, operation.entry->name); });
  if (words.empty()) choose("*", [](const NamedOperation& operation) { return !operation.file.empty(); });
  return chosen;
}

std::vector<ArrayShape> shapes_of(const OperationEntry& entry, const OperationSizes& sizes) {
  std::vector<ArrayShape> shapes(entry.count);
  entry.shapes(sizes, shapes.data());
  for (std::size_t a = 0; a < shapes.size(); ++a)
    if (shapes[a].rows < 0 || shapes[a].cols < 0)
      throw InvalidArgument(
          fmt::format("operation '{}' gives its array {} the shape {}×{} for m = {}, n = {}, k = {}; "
                      "its reject() should refuse these sizes",
                      entry.name, a + 1, shapes[a].rows, shapes[a].cols, sizes.m, sizes.n, sizes.k));
  return shapes;
}

OperationBytes bytes_of(const OperationEntry& entry, const OperationSizes& sizes) {
  OperationBytes bytes;
  const std::vector<ArrayShape> shapes = shapes_of(entry, sizes);
  for (std::size_t a = 0; a < shapes.size(); ++a) {
    const double size = static_cast<double>(shapes[a].rows) * static_cast<double>(shapes[a].cols) *
                        static_cast<double>(size_of(entry.arrays[a].type));
    bytes.stored += size;
    bytes.moved += entry.arrays[a].access == ArrayAccess::Updated ? 2 * size : size;
  }
  if (entry.bytes >= 0) bytes.moved = entry.bytes * indices(sizes);
  return bytes;
}

double flops_of(const OperationEntry& entry, const OperationSizes& sizes) { return entry.flops * indices(sizes); }

} // namespace tessera::compare_app
