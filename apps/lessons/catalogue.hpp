#pragma once

/// The lessons: which rung stands in the file at first, which rung is the solution, and what says that a lesson is
/// done.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/backend/gemm_shape.hpp>
#include <tessera/types.hpp>

#include "diagnosis/mistake.hpp"

namespace tessera::lessons {

enum class Machine { Processor, Gpu };
/// What a lesson's function computes.
enum class Work { Product, Cholesky, Lu };

/// The count that a lesson lowers.
enum class Counter {
  Loads,            ///< processor: loads from memory for a multiply-add
  Copies,           ///< processor: elements stored outside of C
  Misses,           ///< processor: lines that a model of a cache had to fetch, for 1000 multiply-adds
  Terms,            ///< factors: terms of the longest product; n where loops do most of the work
  Nothing,          ///< factors: what is right is passed
  Error,            ///< processor: the largest error, in roundings of the sum of magnitudes
  GlobalSectors,    ///< GPU: sectors of global memory that a request for global memory moves
  GlobalBytes,      ///< GPU: bytes of global memory asked for, for a multiply-add
  SharedLoads,      ///< GPU: requests of a warp to load from shared memory, for a multiply-add of its threads
  SharedWavefronts, ///< GPU: wavefronts of a request for shared memory; 1 without bank conflicts
  Barriers,         ///< GPU: barriers of a block, for 32 steps of k
};

/// What a lesson says of a mistake in addition to the sentence that fits all lessons.
struct Hint {
  Mistake mistake;
  const char* text;
};

struct Lesson {
  const char* name; ///< as in `./tessera learn cpu-02`
  Machine machine;
  const char* rung;        ///< the solution
  const char* before;      ///< what stands in the file at first
  const char* rung_file;   ///< below the root of the sources
  const char* before_file; ///< the same
  const char* idea;        ///< one line for the list
  Counter counter;
  double least_gain; ///< of the way from the rung before to the rung, how much the count has to go
  Index race_size;   ///< m, n and k of the product that is timed
  std::vector<Hint> hints;
  GemmShape counted{.m = 96, .n = 96, .k = 96}; ///< processor: the product that is counted
  int cache_kib = 16;                           ///< processor: size of the cache in the model
  Work work = Work::Product;
  const char* call = nullptr;   ///< factors: how the function is called
  const char* helper = nullptr; ///< factors: the file of the rung that it calls
  const char* page = nullptr;   ///< factors: the page of the course to read first
  bool takes_panels = false;    ///< factors: the function can factor some columns of all rows
};

/// Returns all lessons: products on the processor, on GPUs, and factors.
std::span<const Lesson> lessons();

/// Returns the lesson that a word names: cpu-02, cpu-2, cpu02, transposed, or 02 where only one machine has it. Throws
/// InvalidArgument, whose text says which lessons are meant or near.
const Lesson& lesson_named(std::string_view word);

/// Returns the file's name in a lesson's folder, as transposed.cpp.
std::string file_name(const Lesson& lesson);

/// Returns a counter with its unit, as "loads for a multiply-add".
const char* words_of(Counter counter);

} // namespace tessera::lessons
