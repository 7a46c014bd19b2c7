#include "ceiling_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <tessera/detail/json_nesting.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "machine.hpp"

namespace tessera::apps {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* schema = "tessera.ceilings/1";
/// A home folder may be shared by many machines; the file keeps the ones that were measured last.
constexpr std::size_t most_machines = 32;

double positive(const ordered_json& object, const char* key) {
  const double value = object.at(key).get<double>();
  if (!(value >= 0) || !std::isfinite(value)) throw CeilingFileError(fmt::format("'{}' is {}", key, value));
  return value;
}

/// Reads a whole number. A number with a fraction or beyond the range of Whole must not be converted to it.
template <class Whole>
Whole whole(const ordered_json& object, const char* key) {
  const ordered_json& number = object.at(key);
  const bool fits = number.is_number_unsigned() && std::in_range<Whole>(number.get<std::uint64_t>());
  if (!fits) throw CeilingFileError(fmt::format("'{}' is {}, not a whole number", key, number.dump()));
  return number.get<Whole>();
}

CeilingEntry read_entry(const ordered_json& json) {
  CeilingEntry entry;
  entry.device = json.at("device").get<std::string>();
  entry.type = parse_dtype(json.at("dtype").get<std::string>());
  entry.math = parse_math(json.at("math").get<std::string>());
  entry.threads = whole<int>(json, "threads");
  entry.flops = positive(json, "flops");
  entry.bytes_per_second = positive(json, "bytes_per_second");
  for (const ordered_json& cache : json.at("caches"))
    entry.caches.push_back(
        {whole<int>(cache, "level"), whole<std::size_t>(cache, "bytes"), positive(cache, "bytes_per_second")});
  for (const auto& [name, flops] : json.at("peaks").items()) entry.peaks[name] = flops.get<double>();
  return entry;
}

std::string contents(const fs::path& file) try { return read_text_file(file); } catch (const IoError& error) {
  throw CeilingFileError(std::string(error.what()).substr(file.string().size() + 2), false); // without the path
}

/// Returns the whole file, or one with an empty list of machines if there is no file. Throws CeilingFileError.
ordered_json read_file(const fs::path& file) {
  const ordered_json empty{{"schema", schema}, {"machines", ordered_json::array()}};
  std::error_code error;
  if (!fs::exists(file, error) && !error) return empty;
  const std::string text = contents(file);
  if (detail::json_nesting(text) > detail::most_json_nesting)
    throw CeilingFileError(fmt::format("it is nested deeper than {} levels", detail::most_json_nesting));
  try {
    ordered_json whole = ordered_json::parse(text);
    const ordered_json found = whole.is_object() ? whole.value("schema", ordered_json()) : ordered_json();
    if (found != schema)
      throw CeilingFileError(fmt::format("its schema is {}, not \"{}\"", found.dump(), schema), found.is_null());
    if (!whole.at("machines").is_array()) throw CeilingFileError("'machines' is no list");
    return whole;
  } catch (const ordered_json::exception& wrong) {
    throw CeilingFileError(wrong.what());
  }
}

/// Returns the entry of the machine with this fingerprint, or the end of the list.
ordered_json::iterator find_machine(ordered_json& machines, const ordered_json& fingerprint) {
  const nlohmann::json wanted = fingerprint; // this type compares objects without regard to the order of names
  return std::find_if(machines.begin(), machines.end(), [&](const ordered_json& machine) {
    return machine.is_object() && machine.contains("fingerprint") && nlohmann::json(machine["fingerprint"]) == wanted;
  });
}

} // namespace

fs::path ceiling_file() {
  const fs::path cache = user_cache_folder();
  return cache.empty() ? cache : cache / "ceilings.json";
}

ordered_json fingerprint(const Capabilities& machine) {
  if (!machine.host_memory)
    return {{"device", machine.device},
            {"driver", machine.driver},
            {"compute_capability", fmt::format("{}.{}", machine.compute_major, machine.compute_minor)},
            {"multiprocessors", machine.multiprocessors},
            {"l2_bytes", machine.l2_bytes},
            {"memory_bytes", machine.memory_bytes}};
  ordered_json sizes = ordered_json::array();
  for (const Cache& cache : caches()) sizes.push_back(fmt::format("L{} {} {}", cache.level, cache.kind, cache.bytes));
  return {{"cpu", cpu_name()},
          {"instruction_sets", instruction_sets()},
          {"instruction_set", machine.instruction_set},
          {"processors", usable_processors()},
          {"caches", sizes}};
}

std::vector<CeilingEntry> load_ceilings(const fs::path& file, const ordered_json& fingerprint) {
  ordered_json whole = read_file(file);
  std::vector<CeilingEntry> entries;
  const auto machine = find_machine(whole["machines"], fingerprint);
  if (machine == whole["machines"].end()) return entries;
  try {
    for (const ordered_json& entry : machine->at("ceilings")) entries.push_back(read_entry(entry));
  } catch (const ordered_json::exception& wrong) {
    throw CeilingFileError(wrong.what());
  } catch (const Error& wrong) { // an unknown type or mode
    throw CeilingFileError(wrong.what());
  }
  return entries;
}

std::string store_ceilings(const fs::path& file, const ordered_json& fingerprint,
                           const std::vector<CeilingEntry>& entries) try {
  ordered_json whole;
  std::vector<CeilingEntry> all;
  try { // another program may have written in the meantime
    all = load_ceilings(file, fingerprint);
    whole = read_file(file);
  } catch (const CeilingFileError& wrong) {
    if (!wrong.replaceable()) return wrong.what();
    whole = {{"schema", schema}, {"machines", ordered_json::array()}};
  }
  for (const CeilingEntry& entry : entries) {
    std::erase_if(all, [&](const CeilingEntry& old) { return old.same_place(entry); });
    all.push_back(entry);
  }
  ordered_json& machines = whole["machines"];
  if (const auto old = find_machine(machines, fingerprint); old != machines.end()) machines.erase(old);
  while (machines.size() >= most_machines) machines.erase(machines.begin());
  ordered_json list = ordered_json::array();
  for (const CeilingEntry& entry : all) list.push_back(to_json(entry));
  machines.push_back({{"fingerprint", fingerprint}, {"measured", utc_date()}, {"ceilings", list}});
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return "its folder cannot be made: " + error.message();
  write_text_file(file, whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  return {};
} catch (const std::exception& error) {
  return error.what();
}

} // namespace tessera::apps
