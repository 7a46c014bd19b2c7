#pragma once

#include <string>

#include <CLI/App.hpp>

#include <tessera/types.hpp>

namespace tessera::bench {

/// Adds the command `batch` to the program. The function that it returns runs the command and returns the exit status.
struct BatchCommand {
  std::string shapes = "4x4x4,8x8x8,16x16x16,32x32x32,64x64x64,128x128x128";
  std::string types = "f32,f64";
  std::string threads = "1,2";
  std::string libraries, json;
  Index count = 10000;
  double megabytes = 512;
  double beta = 0;
  int rounds = 9;
  double sample_ms = 20;
  double rest_ms = 250;
  bool gpu = false, transpose_a = false, transpose_b = false;

  CLI::App* add_to(CLI::App& app);
  int run() const;
};

} // namespace tessera::bench
