#pragma once

#include <unistd.h>
#include <cstdio>
#include <string>

namespace tessera::test {

/// While it lives, what is written to the standard error goes to a file of this process.
class CapturedErrors {
 public:
  CapturedErrors() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) { dup2(fileno(file_), STDERR_FILENO); }
  ~CapturedErrors() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  std::string text() const {
    std::string all;
    std::rewind(file_);
    for (int letter = 0; (letter = std::fgetc(file_)) != EOF;) all.push_back(static_cast<char>(letter));
    return all;
  }

 private:
  std::FILE* file_;
  int before_;
};

} // namespace tessera::test
