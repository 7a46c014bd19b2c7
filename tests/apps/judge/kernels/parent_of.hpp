#pragma once

#include <cstdio>

/// Returns the parent of a process, as /proc says, or 0.
inline int parent_of(int process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", process);
  std::FILE* file = std::fopen(path, "r");
  int parent = 0;
  if (file == nullptr) return 0;
  if (std::fscanf(file, "%*d (%*[^)]) %*c %d", &parent) != 1) parent = 0;
  std::fclose(file);
  return parent;
}
