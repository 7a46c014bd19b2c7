#pragma once

/// What a judged kernel can be found guilty of, each with the word that the table shows.

#include <string_view>

namespace tessera::judge {

enum class Offence {
  None,
  // The kernel never ran.
  CompileError,
  CannotLoad,
  MissingSymbol,
  // It did not come back as a function should.
  Crashed,
  Hangs,
  Exits,
  Throws,
  ExceedsMemory,
  ReportsFailure,
  FloodsOutput,
  BreaksProtocol,
  // It came back, and left something that it must not.
  WritesOutOfBounds,
  ModifiesInputs,
  WritesLate,
  NotWritten,
  CachedAnswer,
  WrongAtEdges,
  NotANumber,
  Wrong,
};

/// A few words for the table, e.g. "writes out of bounds".
std::string_view to_string(Offence offence) noexcept;

/// One word for JSON's "verdict": pass, wrong, crashed, hangs, exits, throws, failed, error (never ran).
std::string_view verdict_word(Offence offence) noexcept;

} // namespace tessera::judge
