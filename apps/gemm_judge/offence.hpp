#pragma once

/// The offences that the judge can find, and the words for them.

#include <string_view>

namespace tessera::judge {

enum class Offence {
  None,
  // With these the kernel never ran.
  CompileError,
  CannotLoad,
  MissingSymbol,
  // With these the kernel did not return normally.
  Crashed,
  Hangs,
  Exits,
  Throws,
  ExceedsMemory,
  ReportsFailure,
  FloodsOutput,
  BreaksProtocol,
  ForgesTime,
  UsesMoreThreads,
  TooManyProcesses,
  // With these the kernel returned, but memory is not as it must be.
  WritesOutOfBounds,
  ModifiesInputs,
  WritesLate,
  FloatingState,
  SmashesHeap,
  NotWritten,
  CachedAnswer,
  FlushesSubnormals,
  WrongAtEdges,
  NotANumber,
  Wrong,
  // With this all that could be checked was right, but the time cannot be.
  FasterThanMachine,
};

/// Returns a few words for the table, e.g. "writes out of bounds".
std::string_view to_string(Offence offence) noexcept;

/// Returns one word for "verdict" in JSON: pass, wrong, crashed, hangs, exits, throws, failed, error (never ran).
std::string_view verdict_word(Offence offence) noexcept;

} // namespace tessera::judge
