#include "operation_words.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include <tessera/detail/type_words.hpp>
#include <tessera/status.hpp>

#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

/// Throws if an option is given that products alone have.
void refuse_options_of_products(const CommandLine& words, const char* others) {
  for (const auto& [option, given] :
       {std::pair{"--math", !words.maths.empty()}, std::pair{"--transA", words.trans_a},
        std::pair{"--transB", words.trans_b}, std::pair{"--alpha", !words.alpha.empty()},
        std::pair{"--beta", !words.beta.empty()}, std::pair{"--check-rows", !words.check_rows.empty()},
        std::pair{"--timing", !words.timing.empty()}, std::pair{"--errors", words.errors},
        std::pair{"--verify", words.verify}})
    if (given) throw InvalidArgument(fmt::format("{}: is for --op gemm, not for {}", option, others));
}

/// Throws if an option is given that operations with functors do not have.
void refuse_options_of_kernels(const CommandLine& words) {
  constexpr const char* others = "operations that run functors";
  refuse_options_of_products(words, others);
  for (const auto& [option, given] :
       {std::pair{"--kernels", !words.kernels.empty()}, std::pair{"--cblas", !words.cblas.empty()}})
    if (given) throw InvalidArgument(fmt::format("{}: is for --op gemm, not for {}", option, others));
}

/// Is one of the names an operation of linear algebra? Then all must be.
bool name_systems(const CommandLine& words) {
  if (words.operation.empty()) return false;
  const std::vector<std::string> names = apps::split_list("--op", words.operation);
  const auto is_system = [](const std::string& name) { return find_system_operation(name) != nullptr; };
  if (std::ranges::none_of(names, is_system)) return false;
  for (const std::string& name : names)
    if (!is_system(name))
      throw InvalidArgument(fmt::format("--op: '{}' is raced apart from linear algebra; name {} alone", name,
                                        *std::ranges::find_if(names, is_system)));
  if (!words.op_plugins.empty())
    throw InvalidArgument("--op-plugin: has operations of your own, which are raced apart from linear algebra");
  if (!words.shapes.empty()) throw InvalidArgument("--shape: systems are square; use --sizes");
  if (!words.distribution.empty()) throw InvalidArgument("--dist: systems are drawn so that they have solutions");
  refuse_options_of_products(words, "linear algebra");
  return true;
}

/// Sizes for an operation with one, two or three sizes, where the command line names none.
constexpr std::array usual_sizes{"65536,1048576,16777216", "256,1024,4096", "64,128,256"};
constexpr std::array forms{"N", "MxN", "MxNxK"};

void check_overflow(std::string_view option, const OperationEntry& entry, const GemmShape& shape) {
  constexpr Index most = std::numeric_limits<Index>::max();
  if (shape.m > most / shape.n || shape.m * shape.n > most / shape.k)
    throw InvalidArgument(
        fmt::format("{}: the {} × {} × {} indices of '{}' overflow", option, shape.m, shape.n, shape.k, entry.name));
}

GemmShape equal_sizes(const OperationEntry& entry, Index n) {
  return {entry.sizes > 1 ? n : 1, n, entry.sizes > 2 ? n : 1};
}

GemmShape parse_shape(const OperationEntry& entry, const std::string& text) {
  const std::vector<Index> sizes = apps::parse_shape("--shape", text, 1);
  const auto wanted = static_cast<std::size_t>(entry.sizes);
  if (sizes.size() != wanted)
    throw InvalidArgument(fmt::format("--shape: '{}' has {} size{}, but operation '{}' has {}: give {}", text,
                                      sizes.size(), sizes.size() == 1 ? "" : "s", entry.name, wanted,
                                      forms[wanted - 1]));
  if (wanted == 1) return {1, sizes[0], 1};
  return {sizes[0], sizes[1], wanted > 2 ? sizes[2] : 1};
}

std::vector<GemmShape> parse_shapes(const CommandLine& words, const OperationEntry& entry) {
  std::vector<GemmShape> shapes;
  const std::string usual = usual_sizes[static_cast<std::size_t>(entry.sizes) - 1];
  const std::string& sizes = words.sizes.empty() && words.shapes.empty() ? usual : words.sizes;
  if (!sizes.empty())
    for (const Index n : apps::parse_index_list("--sizes", sizes, 1)) {
      shapes.push_back(equal_sizes(entry, n));
      check_overflow("--sizes", entry, shapes.back());
    }
  for (const std::string& text : words.shapes) {
    shapes.push_back(parse_shape(entry, text));
    check_overflow("--shape", entry, shapes.back());
  }
  return shapes;
}

/// Reads --dtype for operations of linear algebra.
void read_numbers(const CommandLine& words, Options& options) {
  std::vector<std::string> names{"f32"};
  if (!words.dtypes.empty()) names = apps::split_list("--dtype", words.dtypes);
  options.types.clear();
  for (const std::string& name : names) {
    const auto all = system_types();
    const auto at = std::ranges::find(all, name, name_of);
    if (at == all.end()) {
      std::vector<std::string_view> known;
      for (const detail::NumberType type : all) known.push_back(name_of(type));
      throw InvalidArgument(fmt::format("--dtype: {} is not for linear algebra, which is computed in {}", name,
                                        detail::listed(known, "and")));
    }
    options.numbers.push_back(*at);
    options.types.push_back(at->part);
  }
  for (const SystemOperation* const system : options.systems)
    for (const detail::NumberType type : options.numbers)
      if (system->is_of_complex() && !type.is_complex)
        throw InvalidArgument(
            fmt::format("--op: {} is of complex numbers, and --dtype says {}; give --dtype "
                        "complex64 or complex128, or race syrk",
                        system->name, name_of(type)));
}

} // namespace

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::Gemm:
      return "gemm";
    case Operation::SumOfSquares:
      return "sum_of_squares";
    case Operation::User:
      return "operation";
    case Operation::System:
      break;
  }
  return "system";
}

Operation parse_operation(const CommandLine& words) {
  for (const Operation own : {Operation::Gemm, Operation::SumOfSquares}) {
    const bool named = words.operation == to_string(own);
    if (named && !words.op_plugins.empty())
      throw InvalidArgument(
          fmt::format("--op-plugin: has operations of your own, and --op {} is the library's; name one of your own",
                      words.operation));
    if (named) return own;
  }
  if (words.operation.empty() && (words.op_plugins.empty() || words.list || words.list_operations))
    return Operation::Gemm;
  if (name_systems(words)) return Operation::System;
  refuse_options_of_kernels(words);
  return Operation::User;
}

void read_operations(const CommandLine& words, Options& options) {
  if (options.operation == Operation::System) {
    for (const std::string& name : apps::split_list("--op", words.operation))
      options.systems.push_back(find_system_operation(name));
    read_numbers(words, options);
  }
  if (options.operation != Operation::User) return;
  std::vector<std::string> names;
  if (!words.operation.empty()) names = apps::split_list("--op", words.operation);
  for (const std::string& name : names)
    if (name == to_string(Operation::Gemm) || name == to_string(Operation::SumOfSquares))
      throw InvalidArgument(fmt::format("--op: {} is raced by itself, not in a list; its entries are kernels", name));
  const std::vector<DType> types = options.types_given ? options.types : std::vector<DType>();
  for (const NamedOperation& named : choose_operations(all_operations(options.op_plugins), names, types))
    options.operations.push_back({named, parse_shapes(words, *named.entry)});
}

std::vector<DType> filled_types(const Options& options) {
  if (options.operation != Operation::User) return options.types;
  std::vector<DType> types;
  for (const ChosenOperation& operation : options.operations)
    for (std::size_t a = 0; a < operation.named.entry->count; ++a)
      if (const DType type = operation.named.entry->arrays[a].type; is_element_type(type)) types.push_back(type);
  return types;
}

} // namespace tessera::compare_app
