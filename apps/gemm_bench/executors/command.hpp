#pragma once

#include <string>

#include <CLI/App.hpp>

#include "race.hpp"

namespace tessera::bench {

/// Adds the command `executors` to the program: products on one executor and on several. run() returns
/// the exit status.
struct ExecutorsCommand {
  std::string lists = "cuda:0";
  std::string shapes = "8192x8192x8192,16384x16384x16384";
  std::string types = "f32,f64,bf16";
  std::string json;
  Repeats repeats;
  std::string operands = "host";

  CLI::App* add_to(CLI::App& app);
  int run() const;
};

} // namespace tessera::bench
