#pragma once

/// Variables of the environment that name code or files.

#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Returns the value of a variable that names code or files: a plug-in folder, a library, a table, a cache. It is null
/// if the variable is unset, and always in a program that runs with more rights than its caller has (setuid, setgid,
/// file capabilities: AT_SECURE), because the caller could then run code, or have files read and written, with rights
/// that are not the caller's own. Other variables, such as numbers of threads, are read with std::getenv.
///
/// Source: secure_getenv(3).
inline const char* trusted_variable(const char* name) noexcept { return ::secure_getenv(name); }

/// Returns the folders of a list with ':' between them. Relative ones are left out: they would depend on the current
/// directory, which is never searched.
inline std::vector<std::filesystem::path> absolute_folders(std::string_view list) {
  std::vector<std::filesystem::path> folders;
  while (!list.empty()) {
    const std::string_view folder = list.substr(0, list.find(':'));
    list.remove_prefix(std::min(list.size(), folder.size() + 1));
    if (std::filesystem::path(folder).is_absolute()) folders.emplace_back(folder);
  }
  return folders;
}

/// Returns a line for each folder of such a list that is passed over, which says why: it is relative, not there, or no
/// folder. An empty one has no line, since lists are often extended with a ':' at an end.
inline std::vector<std::string> passed_over_folders(std::string_view list) {
  std::vector<std::string> lines;
  while (!list.empty()) {
    const std::string folder(list.substr(0, list.find(':')));
    list.remove_prefix(std::min(list.size(), folder.size() + 1));
    struct stat found {};
    if (folder.empty()) continue;
    if (folder[0] != '/')
      lines.push_back("'" + folder + "' is relative and is passed over; write the whole path, from / on");
    else if (stat(folder.c_str(), &found) != 0)
      lines.push_back("'" + folder + "' is passed over: " + std::generic_category().message(errno));
    else if (!S_ISDIR(found.st_mode))
      lines.push_back("'" + folder + "' is no folder and is passed over; name the folder that holds the file");
  }
  return lines;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
