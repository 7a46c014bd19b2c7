#include "plan.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "common/words.hpp"
#include "gemm_judge/elements.hpp"
#include "linear_algebra/ways.hpp"

namespace tessera::compare_app {
namespace {

/// Returns the tasks of a backend: its kernels, without a number of threads.
std::vector<Task> tasks_of(Backend backend, Operation operation) {
  std::vector<Task> tasks;
  Executor& present = executor(backend);
  if (operation == Operation::Gemm) {
    for (const GemmKernel& kernel : present.gemm_kernels())
      tasks.push_back({.backend = backend, .executor = &present, .gemm = &kernel});
  } else {
    for (const ReduceKernel& kernel : present.reduce_kernels())
      if (kernel.op == ReduceOp::SumOfSquares)
        tasks.push_back({.backend = backend, .executor = &present, .reduce = &kernel});
  }
  std::reverse(tasks.begin(), tasks.end()); // ladders are listed best first, tables begin with the first rung
  // Libraries that are opened at run time are not rungs: they stand below the ladder.
  std::stable_partition(tasks.begin(), tasks.end(),
                        [](const Task& task) { return task.gemm == nullptr || task.gemm->context == nullptr; });
  // Strict entries stand above the entries of other modes, which are another product.
  std::stable_partition(tasks.begin(), tasks.end(), [](const Task& task) { return task.math() == Math::Strict; });
  return tasks;
}

/// Finds the backends to use, and the requested backends that are missing.
void find_backends(const Options& options, RacePlan& plan) {
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
void check_patterns(const Options& options, const std::vector<Task>& all, const std::vector<Task>& usable,
                    const std::vector<Backend>& backends) {
  const auto matched = [](const std::string& pattern, const std::vector<Task>& tasks) {
    return std::find_if(tasks.begin(), tasks.end(),
                        [&](const Task& task) { return apps::matches_glob(pattern, task.name()); });
  };
  const bool judges_int8 = std::any_of(options.types.begin(), options.types.end(), judge::is_whole);
  if (usable.empty() && judges_int8) return; // no kernel of a ladder multiplies them
  for (const std::string& pattern : options.kernels) {
    if (options.kernels_of_preset || matched(pattern, usable) != usable.end()) continue;
    if (const auto task = matched(pattern, all); task != all.end())
      throw InvalidArgument(
          fmt::format("--kernels: '{}' matches '{}', but only as {} {}; choose them with --dtype and "
                      "--math",
                      pattern, task->name(), to_string(task->type()), to_string(task->math())));
    std::vector<std::string> names;
    names.reserve(all.size());
    for (const Task& task : all) names.push_back(task.name());
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

bool is_model(const Task& task) {
  return task.gemm != nullptr && has_contract_of_mode(task.gemm->summation) &&
         task.executor->capabilities().host_memory;
}

/// Returns whether the command line means this model. `others` has the names of the kernels that are no models and have
/// the types and modes that are asked for; where there are none, nothing but models can be meant.
bool is_meant(const Task& model, const Options& options, const std::vector<std::string>& others) {
  if (options.all_modes || !options.maths.empty() || others.empty()) return true;
  return std::any_of(options.kernels.begin(), options.kernels.end(), [&](const std::string& pattern) {
    const auto matches = [&](const std::string& name) { return apps::matches_glob(pattern, name); };
    return matches(model.name()) && std::none_of(others.begin(), others.end(), matches);
  });
}

/// Moves the models that the command line does not mean from `tasks` to the plan's list of models that are left out.
void leave_out_models(const Options& options, std::vector<Task>& tasks, RacePlan& plan) {
  std::vector<std::string> others;
  for (const Task& task : tasks)
    if (!is_model(task)) others.push_back(task.name());
  std::erase_if(tasks, [&](const Task& task) {
    if (!is_model(task) || is_meant(task, options, others)) return false;
    if (matches_any(options, task.name())) plan.left_out.push_back(task);
    return true;
  });
}

void add_once(std::vector<std::string>& words, std::string_view word) {
  if (std::find(words.begin(), words.end(), word) == words.end()) words.emplace_back(word);
}

/// Adds a group for each operation and its sizes, in which each backend has an entry for each number of threads.
void plan_operations(const Options& options, RacePlan& plan) {
  for (const ChosenOperation& chosen : options.operations)
    for (const GemmShape& shape : chosen.shapes) {
      const OperationEntry& entry = *chosen.named.entry;
      if (entry.reject == nullptr || entry.reject(sizes_of(shape)) == nullptr)
        shapes_of(entry, sizes_of(shape)); // throws before anything runs
      Group group{shape, entry.type, {}, &entry};
      for (const Backend backend : plan.backends) {
        Executor& present = executor(backend);
        for (const int threads : thread_counts(options, present.capabilities()))
          group.tasks.push_back({.backend = backend, .executor = &present, .threads = threads});
      }
      plan.groups.push_back(std::move(group));
    }
}

/// Returns the ways of all backends, with each number of threads.
std::vector<Task> tasks_of_systems(const Options& options, const RacePlan& plan) {
  std::vector<Task> tasks;
  bool with_libraries = true;
  for (const Backend backend : plan.backends) {
    Executor& present = executor(backend);
    const Capabilities& machine = present.capabilities();
    const bool has_threads = machine.host_memory && backend != Backend::Reference;
    for (const Way& way : ways_on(backend, has_threads && with_libraries))
      for (const int threads : thread_counts(options, machine))
        tasks.push_back(
            {.backend = backend, .executor = &present, .threads = threads, .way = std::make_shared<const Way>(way)});
    with_libraries = with_libraries && !has_threads;
  }
  return tasks;
}

void plan_systems(const Options& options, RacePlan& plan) {
  const std::vector<Task> all = tasks_of_systems(options, plan);
  for (const std::string& pattern : options.kernels)
    if (std::ranges::none_of(all, [&](const Task& task) { return apps::matches_glob(pattern, task.way->name); })) {
      std::vector<std::string> names;
      for (const Task& task : all) names.push_back(task.way->name);
      throw InvalidArgument(fmt::format("--kernels: '{}' matches no way of {}; did you mean '{}'?", pattern,
                                        names_of(plan.backends), nearest_word(pattern, names)));
    }
  for (const SystemOperation* const system : options.systems)
    for (const detail::NumberType type : options.numbers)
      for (const GemmShape& shape : options.shapes) {
        Group group{shape, type.part, {}, nullptr, system, type.is_complex};
        for (const Task& task : all)
          if (task.way->computes(system->kind, type.is_complex) && matches_any(options, task.way->name))
            group.tasks.push_back(task);
        if (!group.tasks.empty()) plan.groups.push_back(std::move(group));
      }
  if (plan.groups.empty())
    throw InvalidArgument(
        fmt::format("--kernels: {} compute none of these operations in that way", names_of(plan.backends)));
}

} // namespace

RacePlan make_plan(const Options& options) {
  RacePlan plan;
  find_backends(options, plan);
  if (plan.backends.empty()) {
    std::string reasons;
    if (options.preset != nullptr && options.preset->place == Place::Gpu)
      reasons = fmt::format(
          "--preset {}: its kernels run on a GPU, and there is none that can be used; --list shows what "
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
  if (options.operation == Operation::System) {
    plan_systems(options, plan);
    return plan;
  }
  std::vector<Task> all;
  for (const Backend backend : plan.backends) {
    std::vector<Task> tasks = tasks_of(backend, options.operation);
    all.insert(all.end(), tasks.begin(), tasks.end());
  }
  std::vector<Task> usable;
  std::copy_if(all.begin(), all.end(), std::back_inserter(usable), [&](const Task& task) {
    return contains(options.types, task.type()) && (options.maths.empty() || contains(options.maths, task.math()));
  });
  check_patterns(options, all, usable, plan.backends);
  leave_out_models(options, usable, plan);

  for (const DType type : options.types)
    for (const GemmShape& shape : options.shapes) {
      Group group{shape, type, {}, nullptr};
      for (const Task& task : usable) {
        if (task.type() != type || !matches_any(options, task.name())) continue;
        for (const int threads : thread_counts(options, task.executor->capabilities())) {
          group.tasks.push_back(task);
          group.tasks.back().threads = threads;
        }
      }
      if (!group.tasks.empty() || (options.operation == Operation::Gemm && judge::is_whole(type)))
        plan.groups.push_back(std::move(group));
    }
  if (plan.groups.empty() && options.kernels_of_preset)
    throw InvalidArgument(fmt::format("--preset {}: {} has none of its kernels ({})", options.preset->name,
                                      names_of(plan.backends), apps::joined(options.kernels, ", ")));
  return plan;
}

std::string left_out_line(const RacePlan& plan) {
  if (plan.left_out.empty()) return {};
  std::vector<std::string> names, backends, modes;
  for (const Task& model : plan.left_out) {
    add_once(names, model.name());
    add_once(backends, to_string(model.backend));
    add_once(modes, to_string(model.math()));
  }
  return fmt::format(
      "left out: {} ({}), slow models of the units of Hopper GPUs in {}; --kernels {} races them alone, "
      "--all-modes beside the others",
      apps::joined(names, ", "), apps::joined(backends, ", "), apps::joined(modes, ", "), apps::joined(names, ","));
}

} // namespace tessera::compare_app
