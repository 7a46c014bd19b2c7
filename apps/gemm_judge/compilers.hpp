#pragma once

/// Finds the programs that compile kernels, and reads files for them.

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::judge {

/// Returns all bytes of a file; "" if it cannot be read.
std::string contents(const std::filesystem::path& path);

/// Returns the program of this name in PATH, or `name` itself if it is a path; empty if there is no such program.
std::filesystem::path find_program(const std::string& name);

/// Returns the first program that exists: the values of the variables come first, then the names.
std::filesystem::path find_compiler(const std::vector<const char*>& variables, const std::vector<std::string>& names);

} // namespace tessera::judge
