#include "diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "columns/columns.hpp"
#include "format.hpp"

namespace tessera::report {
namespace {

constexpr int least_samples = 5;
constexpr double worth_saying = 0.05;
constexpr double same_within = 0.10;

/// The values of the columns that identify an entry. Entries with the same key are compared.
std::string key_of(const Entry& entry) {
  std::string key;
  for (const Column& column : columns())
    if (column.identifies) key += exact_text(column, entry) + "|";
  return key;
}

/// Every sample of `high` is above the median of `low`, and every sample of `low` is below the median of `high`.
bool apart(const Entry& low, const Entry& high) { return high.min > low.median && high.median > low.max; }

std::string untimed(const char* which, const Entry& entry) {
  return fmt::format("no time in the {} run ({}{}{})", which, entry.verdict, entry.reason.empty() ? "" : ": ",
                     entry.reason);
}

using MachineValues = std::map<std::string, std::string>;

/// Adds each value of an object by its place: "devices/cuda/driver" → "580.1".
void add_values(const Json& object, const std::string& place, MachineValues& values) {
  const Json flat = object.flatten();
  for (const auto& [pointer, value] : flat.items())
    if (!value.is_null()) values[place + pointer] = value.is_string() ? value.get<std::string>() : value.dump();
}

/// Everything that the document says about the machine except the date. Devices are named by their backend, not by
/// their place in the list.
MachineValues values_of(Json machine) {
  MachineValues values;
  machine.erase("date");
  if (const auto devices = machine.find("devices"); devices != machine.end() && devices->is_array()) {
    for (const Json& device : *devices)
      if (device.is_object() && device.contains("backend") && device["backend"].is_string())
        add_values(device, "/devices/" + device["backend"].get<std::string>(), values);
    machine.erase("devices");
  }
  add_values(machine, "", values);
  return values;
}

/// The device that a place belongs to, "/devices/cuda/"; empty if the place belongs to none.
std::string device_of(const std::string& place) {
  const std::string_view prefix = "/devices/";
  if (!place.starts_with(prefix)) return {};
  return place.substr(0, place.find('/', prefix.size()) + 1);
}

bool has_device(const MachineValues& values, const std::string& device) {
  const auto at = values.lower_bound(device);
  return at != values.end() && at->first.starts_with(device);
}

/// Lists what differs between the machines. A device that only one run used is no difference: its entries are reported
/// as missing.
std::vector<std::string> machine_differences(const Json& old_machine, const Json& new_machine) {
  const MachineValues before = values_of(old_machine);
  const MachineValues after = values_of(new_machine);
  MachineValues all = before;
  all.insert(after.begin(), after.end());
  std::vector<std::string> differences;
  const auto value_in = [](const MachineValues& values, const std::string& place) {
    const auto at = values.find(place);
    return at == values.end() ? std::string("nothing") : at->second;
  };
  for (const auto& [place, value] : all) {
    const std::string device = device_of(place);
    if (!device.empty() && !(has_device(before, device) && has_device(after, device))) continue;
    if (const std::string old_value = value_in(before, place), new_value = value_in(after, place);
        old_value != new_value)
      differences.push_back(fmt::format("{}: {} → {}", place.substr(1), old_value, new_value));
  }
  return differences;
}

DiffEntry compare(const Entry& old_entry, const Entry& new_entry) {
  DiffEntry result{old_entry, new_entry, Change::CannotTell, unknown, {}};
  result.ratio = new_entry.median / old_entry.median;
  if (new_entry.failing() && !old_entry.failing()) {
    result.change = Change::Broken;
    result.reason = fmt::format("{} → {}{}{}", old_entry.verdict, new_entry.verdict,
                                new_entry.reason.empty() ? "" : ": ", new_entry.reason);
  } else {
    result.change = judge(old_entry, new_entry, result.reason);
  }
  return result;
}

std::string name_of(const Entry& entry) {
  return fmt::format("{} {}{}, {} {} {}", entry.backend, entry.kernel,
                     entry.threads > 0 ? fmt::format(" ({} thr.)", entry.threads) : "", product_text(entry),
                     entry.dtype, entry.math);
}

} // namespace

std::string_view to_string(Change change) {
  switch (change) {
    case Change::Faster:
      return "faster";
    case Change::Slower:
      return "slower";
    case Change::Same:
      return "same";
    case Change::CannotTell:
      return "can't tell";
    case Change::Broken:
      return "broken";
  }
  return "unknown";
}

Change judge(const Entry& old_entry, const Entry& new_entry, std::string& reason) {
  reason.clear();
  for (const auto& [which, entry] : {std::pair{"old", &old_entry}, std::pair{"new", &new_entry}}) {
    if (!entry->timed()) {
      reason = untimed(which, *entry);
      return Change::CannotTell;
    }
    if (!(entry->min > 0 && entry->min <= entry->median && entry->median <= entry->max && std::isfinite(entry->max))) {
      reason = fmt::format("the {} run's times make no sense: min {}, median {}, max {}", which, entry->min,
                           entry->median, entry->max);
      return Change::CannotTell;
    }
    if (entry->samples < least_samples) {
      reason = fmt::format("{} sample{} in the {} run; needs {}", entry->samples, entry->samples == 1 ? "" : "s", which,
                           least_samples);
      return Change::CannotTell;
    }
  }
  const bool slower = apart(old_entry, new_entry);
  const bool faster = apart(new_entry, old_entry);
  const double ratio = new_entry.median / old_entry.median;
  if (slower && ratio > 1 + worth_saying) return Change::Slower;
  if (faster && ratio < 1 / (1 + worth_saying)) return Change::Faster;
  if (slower || faster) return Change::Same;
  const double furthest = std::max(new_entry.max / old_entry.min, old_entry.max / new_entry.min);
  if (furthest <= 1 + same_within) return Change::Same;
  reason = fmt::format("the spreads overlap and are wide: {}…{} → {}…{}", time_text(old_entry.min),
                       time_text(old_entry.max), time_text(new_entry.min), time_text(new_entry.max));
  return Change::CannotTell;
}

std::size_t Diff::count(Change change) const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [&](const DiffEntry& entry) { return entry.change == change; }));
}

Diff diff_runs(const Run& old_run, const Run& new_run) {
  Diff diff;
  diff.differences = machine_differences(old_run.machine(), new_run.machine());
  std::map<std::string, std::vector<const Entry*>> before;
  for (const Entry& entry : old_run.entries) before[key_of(entry)].push_back(&entry);
  for (const Entry& entry : new_run.entries) {
    const auto at = before.find(key_of(entry));
    if (at == before.end() || at->second.empty()) {
      diff.only_new.push_back(entry);
      continue;
    }
    diff.entries.push_back(compare(*at->second.front(), entry));
    at->second.erase(at->second.begin());
  }
  for (const Entry& entry : old_run.entries) // in the old run's order
    if (const auto& left = before[key_of(entry)]; std::find(left.begin(), left.end(), &entry) != left.end())
      diff.only_old.push_back(entry);
  return diff;
}

std::string diff_report(const Diff& diff) {
  std::string text;
  if (!diff.differences.empty()) text += "warning: the two runs are not of one machine in one state:\n";
  for (const std::string& difference : diff.differences) text += "  " + difference + "\n";

  std::vector<const DiffEntry*> told;
  for (const DiffEntry& entry : diff.entries)
    if (entry.change != Change::Same) told.push_back(&entry);
  const auto rank = [](const DiffEntry* entry) {
    switch (entry->change) {
      case Change::Broken:
        return 0;
      case Change::Slower:
        return 1;
      case Change::Faster:
        return 2;
      default:
        return 3;
    }
  };
  std::stable_sort(told.begin(), told.end(), [&](const DiffEntry* a, const DiffEntry* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return (rank(a) == 1 || rank(a) == 2) && std::abs(std::log(a->ratio)) > std::abs(std::log(b->ratio));
  });
  for (const DiffEntry* entry : told)
    text += fmt::format("{:<10}  {:<52}  {:>9} → {:<9}  {}\n", to_string(entry->change), name_of(entry->new_entry),
                        time_text(entry->old_entry.median), time_text(entry->new_entry.median),
                        entry->reason.empty() ? fmt::format("{:+.1f} %", 100 * (entry->ratio - 1)) : entry->reason);
  for (const Entry& entry : diff.only_old) text += fmt::format("only old    {}\n", name_of(entry));
  for (const Entry& entry : diff.only_new) text += fmt::format("only new    {}\n", name_of(entry));
  text += fmt::format(
      "{} faster, {} slower, {} same, {} can't tell, {} broken; {} only in the old run, {} only in the "
      "new one\n",
      diff.count(Change::Faster), diff.count(Change::Slower), diff.count(Change::Same), diff.count(Change::CannotTell),
      diff.count(Change::Broken), diff.only_old.size(), diff.only_new.size());
  return text;
}

} // namespace tessera::report
