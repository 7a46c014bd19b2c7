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
std::string key_of(const Row& row) {
  std::string key;
  for (const Column& column : columns())
    if (column.identifies) key += exact_text(column, row) + "|";
  return key;
}

/// Every sample of `high` is above the median of `low`, and every sample of `low` is below the median of `high`.
bool apart(const Row& low, const Row& high) { return high.min > low.median && high.median > low.max; }

std::string untimed(const char* which, const Row& row) {
  return fmt::format("no time in the {} run ({}{}{})", which, row.verdict, row.reason.empty() ? "" : ": ", row.reason);
}

using Facts = std::map<std::string, std::string>;

/// Adds each value of an object by its place: "devices/cuda/driver" → "580.1".
void add_facts(const Json& object, const std::string& place, Facts& facts) {
  const Json flat = object.flatten();
  for (const auto& [pointer, value] : flat.items())
    if (!value.is_null()) facts[place + pointer] = value.is_string() ? value.get<std::string>() : value.dump();
}

/// Everything that the document says about the machine except the date. Devices are named by their backend, not by
/// their place in the list.
Facts facts_of(Json machine) {
  Facts facts;
  machine.erase("date");
  if (const auto devices = machine.find("devices"); devices != machine.end() && devices->is_array()) {
    for (const Json& device : *devices)
      if (device.is_object() && device.contains("backend") && device["backend"].is_string())
        add_facts(device, "/devices/" + device["backend"].get<std::string>(), facts);
    machine.erase("devices");
  }
  add_facts(machine, "", facts);
  return facts;
}

/// The device that a place belongs to, "/devices/cuda/"; empty if the place belongs to none.
std::string device_of(const std::string& place) {
  const std::string_view prefix = "/devices/";
  if (!place.starts_with(prefix)) return {};
  return place.substr(0, place.find('/', prefix.size()) + 1);
}

bool has_device(const Facts& facts, const std::string& device) {
  const auto at = facts.lower_bound(device);
  return at != facts.end() && at->first.starts_with(device);
}

/// Lists what differs between the machines. A device that only one run used is no difference: its entries are reported
/// as missing.
std::vector<std::string> machine_differences(const Json& old_machine, const Json& new_machine) {
  const Facts before = facts_of(old_machine);
  const Facts after = facts_of(new_machine);
  Facts all = before;
  all.insert(after.begin(), after.end());
  std::vector<std::string> differences;
  const auto value_in = [](const Facts& facts, const std::string& place) {
    const auto at = facts.find(place);
    return at == facts.end() ? std::string("nothing") : at->second;
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

DiffRow compare(const Row& old_row, const Row& new_row) {
  DiffRow result{old_row, new_row, Change::CannotTell, unknown, {}};
  result.ratio = new_row.median / old_row.median;
  if (new_row.failing() && !old_row.failing()) {
    result.change = Change::Broken;
    result.reason = fmt::format("{} → {}{}{}", old_row.verdict, new_row.verdict, new_row.reason.empty() ? "" : ": ",
                                new_row.reason);
  } else {
    result.change = judge(old_row, new_row, result.reason);
  }
  return result;
}

std::string name_of(const Row& row) {
  return fmt::format("{} {}{}, {} {} {}", row.backend, row.kernel,
                     row.threads > 0 ? fmt::format(" ({} thr.)", row.threads) : "", product_text(row), row.dtype,
                     row.math);
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

Change judge(const Row& old_row, const Row& new_row, std::string& reason) {
  reason.clear();
  for (const auto& [which, row] : {std::pair{"old", &old_row}, std::pair{"new", &new_row}}) {
    if (!row->timed()) {
      reason = untimed(which, *row);
      return Change::CannotTell;
    }
    if (!(row->min > 0 && row->min <= row->median && row->median <= row->max && std::isfinite(row->max))) {
      reason = fmt::format("the {} run's times make no sense: min {}, median {}, max {}", which, row->min, row->median,
                           row->max);
      return Change::CannotTell;
    }
    if (row->samples < least_samples) {
      reason = fmt::format("{} sample{} in the {} run; needs {}", row->samples, row->samples == 1 ? "" : "s", which,
                           least_samples);
      return Change::CannotTell;
    }
  }
  const bool slower = apart(old_row, new_row);
  const bool faster = apart(new_row, old_row);
  const double ratio = new_row.median / old_row.median;
  if (slower && ratio > 1 + worth_saying) return Change::Slower;
  if (faster && ratio < 1 / (1 + worth_saying)) return Change::Faster;
  if (slower || faster) return Change::Same;
  const double furthest = std::max(new_row.max / old_row.min, old_row.max / new_row.min);
  if (furthest <= 1 + same_within) return Change::Same;
  reason = fmt::format("the spreads overlap and are wide: {}…{} → {}…{}", time_text(old_row.min),
                       time_text(old_row.max), time_text(new_row.min), time_text(new_row.max));
  return Change::CannotTell;
}

std::size_t Diff::count(Change change) const {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const DiffRow& row) { return row.change == change; }));
}

Diff diff_runs(const Run& old_run, const Run& new_run) {
  Diff diff;
  diff.differences = machine_differences(old_run.machine(), new_run.machine());
  std::map<std::string, std::vector<const Row*>> before;
  for (const Row& row : old_run.rows) before[key_of(row)].push_back(&row);
  for (const Row& row : new_run.rows) {
    const auto at = before.find(key_of(row));
    if (at == before.end() || at->second.empty()) {
      diff.only_new.push_back(row);
      continue;
    }
    diff.rows.push_back(compare(*at->second.front(), row));
    at->second.erase(at->second.begin());
  }
  for (const Row& row : old_run.rows) // in the old run's order
    if (const auto& left = before[key_of(row)]; std::find(left.begin(), left.end(), &row) != left.end())
      diff.only_old.push_back(row);
  return diff;
}

std::string diff_report(const Diff& diff) {
  std::string text;
  if (!diff.differences.empty()) text += "warning: the two runs are not of one machine in one state:\n";
  for (const std::string& difference : diff.differences) text += "  " + difference + "\n";

  std::vector<const DiffRow*> told;
  for (const DiffRow& row : diff.rows)
    if (row.change != Change::Same) told.push_back(&row);
  const auto rank = [](const DiffRow* row) {
    switch (row->change) {
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
  std::stable_sort(told.begin(), told.end(), [&](const DiffRow* a, const DiffRow* b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return (rank(a) == 1 || rank(a) == 2) && std::abs(std::log(a->ratio)) > std::abs(std::log(b->ratio));
  });
  for (const DiffRow* row : told)
    text += fmt::format("{:<10}  {:<52}  {:>9} → {:<9}  {}\n", to_string(row->change), name_of(row->new_row),
                        time_text(row->old_row.median), time_text(row->new_row.median),
                        row->reason.empty() ? fmt::format("{:+.1f} %", 100 * (row->ratio - 1)) : row->reason);
  for (const Row& row : diff.only_old) text += fmt::format("only old    {}\n", name_of(row));
  for (const Row& row : diff.only_new) text += fmt::format("only new    {}\n", name_of(row));
  text += fmt::format(
      "{} faster, {} slower, {} same, {} can't tell, {} broken; {} only in the old run, {} only in the "
      "new one\n",
      diff.count(Change::Faster), diff.count(Change::Slower), diff.count(Change::Same), diff.count(Change::CannotTell),
      diff.count(Change::Broken), diff.only_old.size(), diff.only_new.size());
  return text;
}

} // namespace tessera::report
