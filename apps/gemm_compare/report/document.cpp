#include "document.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include <tessera/backend_list.hpp>
#include <tessera/detail/json_nesting.hpp>

#include "columns/columns.hpp"
#include "columns/json_fields.hpp"
#include "shell.hpp"

namespace tessera::report {
namespace {

Entry read_entry(const Json& result) {
  if (!result.is_object()) throw DocumentError(fmt::format("is {}, not an object", result.type_name()));
  Entry entry;
  read_columns(result, entry);
  if (entry.backend.empty() || entry.kernel.empty()) throw DocumentError("names no backend or no kernel");
  if (const Json* seconds = find(result, "seconds")) {
    if (find(*seconds, "min") == nullptr) entry.min = entry.median;
    if (find(*seconds, "max") == nullptr) entry.max = entry.median;
  }
  entry.device = word_at(result, "device");
  if (entry.op == "sum_of_squares") entry.result.clear(); // documents of 0.1 name f32 beside sums of other types
  return entry;
}

Grade read_grade(const Json& json) {
  if (!json.is_object()) throw DocumentError(fmt::format("is {}, not an object", json.type_name()));
  Grade grade;
  read_kernel(json, grade.kernel);
  grade.grade = word_at(json, "grade", "none");
  grade.slope = number_at(json, "slope");
  const Json* sizes = find(json, "sizes");
  if (sizes == nullptr || !sizes->is_array()) throw DocumentError("has no list of sizes");
  std::map<std::int64_t, double> errors; // a size that was run twice has the larger error
  for (const Json& size : *sizes) {
    double& error = errors[whole_at(size, "n")];
    error = std::max(error, number_at(size, "componentwise", 0));
  }
  for (const auto& [n, error] : errors) grade.sizes.push_back({static_cast<double>(n), error});
  return grade;
}

/// Applies read() to each element of a list; an error names the element. Null has no elements.
template <class Read>
auto read_list(const Json* list, const char* name, Read&& read) {
  std::vector<decltype(read(Json()))> all;
  if (list == nullptr) return all;
  if (!list->is_array()) wrong_type(name, *list, "a list");
  for (std::size_t i = 0; i < list->size(); ++i) try {
      all.push_back(read((*list)[i]));
    } catch (const DocumentError& error) {
      throw DocumentError(fmt::format("{}[{}]: {}", name, i, error.what()));
    }
  return all;
}

} // namespace

std::string text_at(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

bool Entry::failing() const {
  static constexpr std::array fine{"pass", "cannot say", "timed", "rejected", "skipped", "interrupted", "pending"};
  return std::find(fine.begin(), fine.end(), verdict) == fine.end();
}

const Json& Run::machine() const {
  static const Json none = Json::object();
  const Json* machine = find(document, "machine");
  return machine != nullptr && machine->is_object() ? *machine : none;
}

std::string Run::command() const {
  const Json* command = find(document, "command");
  if (command == nullptr) return {};
  if (command->is_string()) return command->get<std::string>();
  std::string line;
  if (command->is_array())
    for (const Json& argument : *command) {
      if (!argument.is_string()) continue;
      if (!line.empty()) line += ' ';
      line += shell_quoted(argument.get<std::string>());
    }
  return line;
}

bool Run::on_host(const std::string& backend) const {
  if (const Json* devices = find(machine(), "devices"); devices != nullptr && devices->is_array())
    for (const Json& device : *devices)
      if (device.is_object() && device.value("backend", Json()) == backend && device.contains("host_memory"))
        return device["host_memory"] == true;
  const BuiltInBackend* known = find_built_in(std::string_view(backend)); // the document does not say
  return known == nullptr || known->memory == Memory::Host;
}

std::string Run::place(const Entry& entry) const {
  if (entry.device == "cpu") return "processor";
  const std::string& backend = entry.device.empty() ? entry.backend : entry.device;
  return on_host(backend) ? "processor" : backend;
}

std::string Run::label(const Entry& entry) const {
  std::set<int> counts;
  for (const Entry& other : entries)
    if (other.backend == entry.backend) counts.insert(other.threads);
  return counts.size() < 2 ? entry.kernel
                           : fmt::format("{}, {} thread{}", entry.kernel, entry.threads, entry.threads == 1 ? "" : "s");
}

std::string Run::label_with_mode(const Entry& entry) const {
  const bool is_said = entry.math == "strict" || entry.kernel.find(entry.math) != std::string::npos;
  return is_said ? label(entry) : label(entry) + ", " + entry.math;
}

Run read_run(Json document) {
  if (!document.is_object()) throw DocumentError(fmt::format("is {}, not an object", document.type_name()));
  const Json* found = find(document, "schema");
  if (found == nullptr || !found->is_string())
    throw DocumentError(fmt::format("has no schema; a report of gemm_compare --json says \"{}\"", schema));
  if (found->get<std::string>() != schema)
    throw DocumentError(fmt::format("has schema '{}', and this program reads '{}': make it again with this version",
                                    found->get<std::string>(), schema));
  const Json* results = find(document, "results");
  if (results == nullptr || !results->is_array()) throw DocumentError("has no list of results");
  Run run;
  run.entries = read_list(results, "results", read_entry);
  run.grades = read_list(find(document, "grades"), "grades", read_grade);
  run.document = std::move(document);
  return run;
}

Run load_run(const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw DocumentError(fmt::format("{}: is a folder", file));
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw DocumentError(fmt::format("{}: {}", file, std::strerror(errno)));
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (detail::json_nesting(text) > detail::most_json_nesting)
    throw DocumentError(fmt::format("{}: is nested deeper than {} levels, so it is no report of gemm_compare", file,
                                    detail::most_json_nesting));
  try {
    return read_run(Json::parse(text));
  } catch (const Json::exception& error) {
    throw DocumentError(fmt::format("{}: is not JSON: {}", file, error.what()));
  } catch (const DocumentError& error) {
    throw DocumentError(fmt::format("{}: {}", file, error.what()));
  }
}

} // namespace tessera::report
