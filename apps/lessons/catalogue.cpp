#include "catalogue.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "factors/factor_lessons.hpp"

namespace tessera::lessons {
namespace {

#define TESSERA_CPU_RUNG "backends/cpu/gemm/textbook/"
#define TESSERA_GPU_RUNG "backends/cuda/gemm/textbook/"

std::vector<Lesson> catalogue() {
  return {
      {.name = "cpu-02",
       .machine = Machine::Processor,
       .rung = "transposed",
       .before = "naive",
       .rung_file = TESSERA_CPU_RUNG "02_transposed.cpp",
       .before_file = TESSERA_CPU_RUNG "01_naive.cpp",
       .idea = "transpose B first, so that both operands are read along rows",
       .counter = Counter::Misses,
       .least_gain = 0.8,
       .race_size = 384,
       .hints =
           {{Mistake::TransposeB,
             "Element (p, j) of op(B) belongs at j·k + p of the copy. Where B is stored transposed, its rows are that "
             "already: copy nothing."},
            {Mistake::TransposeA, "A that is stored transposed has to be turned as well."}}},
      {.name = "cpu-03",
       .machine = Machine::Processor,
       .rung = "single_packed",
       .before = "transposed",
       .rung_file = TESSERA_CPU_RUNG "03_single_packed.cpp",
       .before_file = TESSERA_CPU_RUNG "02_transposed.cpp",
       .idea = "four columns of B side by side: an element of A serves four sums",
       .counter = Counter::Loads,
       .least_gain = 0.8,
       .race_size = 384,
       .hints = {{Mistake::LastColumns, "The last strip may have fewer than four columns of C."}}},
      {.name = "cpu-04",
       .machine = Machine::Processor,
       .rung = "double_packed",
       .before = "single_packed",
       .rung_file = TESSERA_CPU_RUNG "04_double_packed.cpp",
       .before_file = TESSERA_CPU_RUNG "03_single_packed.cpp",
       .idea = "four rows of A as well: eight loads serve sixteen sums",
       .counter = Counter::Loads,
       .least_gain = 0.8,
       .race_size = 384,
       .hints = {{Mistake::LastRows, "A thread's range of rows may end in the middle of a strip of four."},
                 {Mistake::WritesOutside,
                  "for_row_groups(cpu, call, 4, …) lets each range begin at a multiple of four."}}},
      {.name = "cpu-05",
       .machine = Machine::Processor,
       .rung = "tiled_4x4",
       .before = "double_packed",
       .rung_file = TESSERA_CPU_RUNG "05_tiled_4x4.cpp",
       .before_file = TESSERA_CPU_RUNG "04_double_packed.cpp",
       .idea = "tiles of 4×4 in local arrays: nothing is packed in memory",
       .counter = Counter::Copies,
       .least_gain = 0.4,
       .race_size = 384,
       .hints = {{Mistake::NotANumber, "A tile at the edge of A or B: fill with zeros what lies beyond the edge."},
                 {Mistake::StaleTail, "The last tile of k holds fewer than four columns of A: fill it with zeros."}}},
      {.name = "cpu-06",
       .machine = Machine::Processor,
       .rung = "cache_blocked",
       .before = "double_packed",
       .rung_file = TESSERA_CPU_RUNG "06_cache_blocked.cpp",
       .before_file = TESSERA_CPU_RUNG "04_double_packed.cpp",
       .idea = "blocks that stay in the caches while they are used",
       .counter = Counter::Misses,
       .least_gain = 0.6,
       .race_size = 640,
       .hints = {{Mistake::DoubledTile, "Sums of one block of k are added to those of the blocks before it, once."},
                 {Mistake::Beta, "beta times C belongs to the first block of k alone."},
                 {Mistake::LastSteps, "The sums of all blocks of k have to meet: store the first, add the others."},
                 {Mistake::FirstSteps, "The sums of all blocks of k have to meet: store the first, add the others."}},
       .counted = {.m = 256, .n = 192, .k = 1024},
       .cache_kib = 256},
      {.name = "cpu-k1",
       .machine = Machine::Processor,
       .rung = "kahan",
       .before = "single_packed",
       .rung_file = TESSERA_CPU_RUNG "k1_kahan.cpp",
       .before_file = TESSERA_CPU_RUNG "03_single_packed.cpp",
       .idea = "compensated sums: the error no longer grows with k",
       .counter = Counter::Error,
       .least_gain = 0.9,
       .race_size = 384,
       .hints = {{Mistake::LastColumns, "The last strip may have fewer columns of C than a strip is wide."},
                 {Mistake::Imprecise,
                  "Check the signs: the excess is taken off the next term, and set anew each time."}}},
      {.name = "gpu-02",
       .machine = Machine::Gpu,
       .rung = "naive_coalesced",
       .before = "naive_strided",
       .rung_file = TESSERA_GPU_RUNG "02_naive_coalesced.cu",
       .before_file = TESSERA_GPU_RUNG "01_naive_strided.cu",
       .idea = "neighbouring threads read neighbouring elements",
       .counter = Counter::GlobalSectors,
       .least_gain = 0.8,
       .race_size = 2048,
       .hints = {{Mistake::LastRows,
                  "The block's sizes and the tile's sizes have to be exchanged together, in launch() too."},
                 {Mistake::LastColumns,
                  "The block's sizes and the tile's sizes have to be exchanged together, in launch() too."},
                 {Mistake::Race,
                  "The block's sizes and the tile's sizes have to be exchanged together, in launch() too."}}},
      {.name = "gpu-06",
       .machine = Machine::Gpu,
       .rung = "shared_tile",
       .before = "naive_coalesced",
       .rung_file = TESSERA_GPU_RUNG "06_shared_tile.cu",
       .before_file = TESSERA_GPU_RUNG "02_naive_coalesced.cu",
       .idea = "a block keeps tiles of A and B in shared memory",
       .counter = Counter::GlobalBytes,
       .least_gain = 0.8,
       .race_size = 2048,
       .hints = {{Mistake::Race, "One barrier after the tiles are filled, one after they are used."},
                 {Mistake::BarrierInBranch,
                  "A thread whose row or column does not exist still helps to fill the tiles."},
                 {Mistake::LastSteps, "The last tile of k may be narrower than the others; it counts as well."}}},
      {.name = "gpu-07",
       .machine = Machine::Gpu,
       .rung = "shared_tile_bank_padded",
       .before = "shared_tile",
       .rung_file = TESSERA_GPU_RUNG "07_shared_tile_bank_padded.cu",
       .before_file = TESSERA_GPU_RUNG "06_shared_tile.cu",
       .idea = "rows of shared memory one element longer: no bank conflicts",
       .counter = Counter::SharedWavefronts,
       .least_gain = 0.8,
       .race_size = 2048,
       .hints = {{Mistake::Elsewhere, "The extra element of a row is never read or written."}}},
      {.name = "gpu-08",
       .machine = Machine::Gpu,
       .rung = "tile_1d",
       .before = "shared_tile_bank_padded",
       .rung_file = TESSERA_GPU_RUNG "08_tile_1d.cu",
       .before_file = TESSERA_GPU_RUNG "07_shared_tile_bank_padded.cu",
       .idea = "eight results a thread: an element of B is read once for eight",
       .counter = Counter::SharedLoads,
       .least_gain = 0.6,
       .race_size = 2048,
       .hints = {{Mistake::SomeRows, "Each thread has eight rows of the tile: which ones does it store?"},
                 {Mistake::LastRows, "The guard has to hold for each of the eight rows by itself."}}},
      {.name = "gpu-10",
       .machine = Machine::Gpu,
       .rung = "tile_2d_register",
       .before = "tile_1d",
       .rung_file = TESSERA_GPU_RUNG "10_tile_2d_register.cu",
       .before_file = TESSERA_GPU_RUNG "08_tile_1d.cu",
       .idea = "8×8 results a thread, an outer product from registers in each step",
       .counter = Counter::SharedLoads,
       .least_gain = 0.8,
       .race_size = 2048,
       .hints = {{Mistake::Elsewhere, "Each step of k has its own fragments: fill both before the products."}}},
      {.name = "gpu-11",
       .machine = Machine::Gpu,
       .rung = "float4",
       .before = "tile_2d_register",
       .rung_file = TESSERA_GPU_RUNG "11_float4.cu",
       .before_file = TESSERA_GPU_RUNG "10_tile_2d_register.cu",
       .idea = "128-bit loads, and A transposed on its way to shared memory",
       .counter = Counter::SharedLoads,
       .least_gain = 0.6,
       .race_size = 2048,
       .hints = {{Mistake::Race, "With two barriers a tile: before it is filled, and before it is used."}}},
      {.name = "gpu-12",
       .machine = Machine::Gpu,
       .rung = "double_buffer",
       .before = "float4",
       .rung_file = TESSERA_GPU_RUNG "12_double_buffer.cu",
       .before_file = TESSERA_GPU_RUNG "11_float4.cu",
       .idea = "two buffers: one is filled while the other is used",
       .counter = Counter::Barriers,
       .least_gain = 0.8,
       .race_size = 2048,
       .hints = {{Mistake::Race,
                  "A buffer is filled again only after all threads have left it: fill the other one, then wait, then "
                  "exchange them."},
                 {Mistake::Uninitialised, "The first tile has to be there before the loop begins."},
                 {Mistake::LastSteps, "In the last round nothing is fetched, but the tile that is there is used."},
                 {Mistake::DoubledTile, "Exchange the buffers once in each round."},
                 {Mistake::FirstTileAgain, "Exchange the buffers once in each round."}}},
  };
}

#undef TESSERA_CPU_RUNG
#undef TESSERA_GPU_RUNG

/// Returns the word in small letters, with "cpu-2", "cpu02" and "2" written as "cpu-02" and "02".
std::string spelled(std::string_view word) {
  std::string text;
  for (const char letter : word) text += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  std::string machine;
  for (const char* prefix : {"cpu", "gpu", "fac"})
    if (text.starts_with(prefix)) {
      machine = std::string(prefix) + "-";
      text.erase(0, 3);
      if (text.starts_with('-') || text.starts_with('_')) text.erase(0, 1);
    }
  if (text.size() == 1 && std::isdigit(static_cast<unsigned char>(text[0])) != 0) text.insert(0, "0");
  return machine + text;
}

} // namespace

std::span<const Lesson> lessons() {
  static const std::vector<Lesson> all = [] {
    std::vector<Lesson> lessons = catalogue(), more = lessons_on_factors();
    lessons.insert(lessons.end(), more.begin(), more.end());
    return lessons;
  }();
  return all;
}

const Lesson& lesson_named(std::string_view word) {
  const std::string wanted = spelled(word);
  std::vector<const Lesson*> found;
  std::vector<std::string> words;
  for (const Lesson& lesson : lessons()) {
    const std::string name = lesson.name;
    if (wanted == name || wanted == lesson.rung || wanted == name.substr(4)) found.push_back(&lesson);
    words.push_back(name);
    words.emplace_back(lesson.rung);
  }
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) {
    std::string meant;
    for (const Lesson* lesson : found)
      meant += fmt::format("{}{} ({})", meant.empty() ? "" : " or ", lesson->name, lesson->rung);
    throw InvalidArgument(fmt::format("'{}' may be {}; say which", word, meant));
  }
  const std::string near = nearest_word(std::string(word), words);
  throw InvalidArgument(fmt::format("there is no lesson '{}'{} (./tessera learn lists them)", word,
                                    near.empty() ? "" : fmt::format("; did you mean '{}'?", near)));
}

std::string file_name(const Lesson& lesson) {
  return lesson.rung + std::filesystem::path(lesson.rung_file).extension().string();
}

const char* words_of(Counter counter) {
  switch (counter) {
    case Counter::Loads:
      return "elements loaded from memory for a multiply-add";
    case Counter::Copies:
      return "elements stored outside of C";
    case Counter::Misses:
      return "cache lines fetched for 1000 multiply-adds, in a model of a cache";
    case Counter::Terms:
      return "terms of the longest product (n where loops do most of the work)";
    case Counter::Nothing:
      return "nothing";
    case Counter::Error:
      return "roundings by which a sum of 20000 positive products is off";
    case Counter::GlobalSectors:
      return "sectors that a warp's access to global memory moves";
    case Counter::GlobalBytes:
      return "bytes asked of global memory for a multiply-add";
    case Counter::SharedLoads:
      return "loads from shared memory for a multiply-add of a warp";
    case Counter::SharedWavefronts:
      return "wavefronts of a warp's access to shared memory (1: no bank conflict)";
    case Counter::Barriers:
      return "barriers of a block for 32 steps of k";
  }
  return "";
}

} // namespace tessera::lessons
