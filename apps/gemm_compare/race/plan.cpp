#include "plan.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"
#include "judge/elements.hpp"

namespace tessera::compare_app {
namespace {

/// A row of a product or of a reduction.
struct Row {
  Task task;
  std::string name;
  DType type;
  Math math;
};

std::vector<Row> rows_of(Backend backend, Operation operation) {
  std::vector<Row> rows;
  Executor& present = executor(backend);
  if (operation == Operation::Gemm) {
    for (const GemmKernel& row : present.gemm_kernels())
      rows.push_back({{backend, &present, &row, nullptr, 0}, row.name, row.type, row.math});
  } else {
    for (const ReduceKernel& row : present.reduce_kernels())
      if (row.op == ReduceOp::SumOfSquares)
        rows.push_back({{backend, &present, nullptr, &row, 0}, row.name, row.type, Math::Strict});
  }
  std::reverse(rows.begin(), rows.end()); // ladders are listed best first, tables begin with the first rung
  // Libraries that are opened at run time are not rungs: they stand below the ladder.
  std::stable_partition(rows.begin(), rows.end(),
                        [](const Row& row) { return row.task.gemm == nullptr || row.task.gemm->context == nullptr; });
  return rows;
}

/// Finds the backends to use, and the requested backends that are missing.
void find_backends(const Options& options, Plan& plan) {
  std::vector<BackendRequest> requests = options.backends;
  if (requests.empty())
    for (const Backend backend : known_backends()) requests.push_back({backend, false});
  for (const BackendRequest& request : requests) try {
      executor(request.backend);
      plan.backends.push_back(request.backend);
    } catch (const BackendUnavailable& why) {
      plan.missing.push_back({request.backend, why.what(), request.demanded});
    }
}

template <class T>
bool contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string names_of(const std::vector<Backend>& backends) {
  std::vector<std::string> names;
  names.reserve(backends.size());
  for (const Backend backend : backends) names.emplace_back(to_string(backend));
  return apps::joined(names, ", ");
}

bool matches_any(const Options& options, const std::string& name) {
  return options.kernels.empty() ||
         std::any_of(options.kernels.begin(), options.kernels.end(),
                     [&](const std::string& pattern) { return apps::matches_glob(pattern, name); });
}

/// Throws unless every pattern matches some kernel of the types and modes that are asked for.
void check_patterns(const Options& options, const std::vector<Row>& all, const std::vector<Row>& usable,
                    const std::vector<Backend>& backends) {
  const auto matched = [](const std::string& pattern, const std::vector<Row>& rows) {
    return std::find_if(rows.begin(), rows.end(),
                        [&](const Row& row) { return apps::matches_glob(pattern, row.name); });
  };
  const bool judges_int8 = contains(options.types, judge::int8_product);
  if (usable.empty() && judges_int8) return; // no row of a ladder multiplies them
  for (const std::string& pattern : options.kernels) {
    if (options.kernels_of_preset || matched(pattern, usable) != usable.end()) continue;
    if (const auto row = matched(pattern, all); row != all.end())
      throw InvalidArgument(
          fmt::format("--kernels: '{}' matches '{}', but only as {} {}; choose them with --dtype and "
                      "--math",
                      pattern, row->name, to_string(row->type), to_string(row->math)));
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const Row& row : all) names.push_back(row.name);
    throw InvalidArgument(fmt::format("--kernels: '{}' matches no kernel of {}; did you mean '{}'? --list shows all",
                                      pattern, names_of(backends), nearest_word(pattern, names)));
  }
  if (usable.empty())
    throw InvalidArgument(fmt::format("no kernel of {} has the type and the math mode that --dtype and --math ask for",
                                      names_of(backends)));
}

std::vector<int> thread_counts(const Options& options, const Capabilities& machine) {
  if (!machine.host_memory) return {0};
  if (machine.backend == Backend::Reference) return {1}; // it is serial, whatever --threads says
  return options.threads.empty() ? std::vector<int>{machine.threads} : options.threads;
}

/// Adds a group for each operation and its sizes, in which each backend has a row for each number of threads.
void plan_operations(const Options& options, Plan& plan) {
  for (const ChosenOperation& chosen : options.operations)
    for (const Shape& shape : chosen.shapes) {
      const OperationEntry& entry = *chosen.named.entry;
      if (entry.reject == nullptr || entry.reject(shape.sizes()) == nullptr)
        shapes_of(entry, shape.sizes()); // throws before anything runs
      Group group{shape, entry.type, {}, &entry};
      for (const Backend backend : plan.backends) {
        Executor& present = executor(backend);
        for (const int threads : thread_counts(options, present.capabilities()))
          group.tasks.push_back({backend, &present, nullptr, nullptr, threads});
      }
      plan.groups.push_back(std::move(group));
    }
}

} // namespace

Plan make_plan(const Options& options) {
  Plan plan;
  find_backends(options, plan);
  if (plan.backends.empty()) {
    std::string reasons;
    if (options.preset != nullptr && options.preset->place == Place::Card)
      reasons = fmt::format(
          "--preset {}: its kernels run on a card, and there is none that can be used; --list shows what "
          "it would run\n",
          options.preset->name);
    for (const MissingBackend& missing : plan.missing)
      reasons += (reasons.empty() || reasons.ends_with('\n') ? "" : "\n") + missing.reason;
    throw BackendUnavailable(reasons);
  }
  if (options.operation == Operation::User) {
    plan_operations(options, plan);
    return plan;
  }
  std::vector<Row> all;
  for (const Backend backend : plan.backends) {
    std::vector<Row> rows = rows_of(backend, options.operation);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  std::vector<Row> usable;
  std::copy_if(all.begin(), all.end(), std::back_inserter(usable), [&](const Row& row) {
    return contains(options.types, row.type) && (options.maths.empty() || contains(options.maths, row.math));
  });
  check_patterns(options, all, usable, plan.backends);

  for (const DType type : options.types)
    for (const Shape& shape : options.shapes) {
      Group group{shape, type, {}, nullptr};
      for (const Row& row : usable) {
        if (row.type != type || !matches_any(options, row.name)) continue;
        for (const int threads : thread_counts(options, row.task.executor->capabilities())) {
          group.tasks.push_back(row.task);
          group.tasks.back().threads = threads;
        }
      }
      if (!group.tasks.empty() || (options.operation == Operation::Gemm && type == judge::int8_product))
        plan.groups.push_back(std::move(group));
    }
  if (plan.groups.empty() && options.kernels_of_preset)
    throw InvalidArgument(fmt::format("--preset {}: {} has none of its kernels ({})", options.preset->name,
                                      names_of(plan.backends), apps::joined(options.kernels, ", ")));
  return plan;
}

} // namespace tessera::compare_app
