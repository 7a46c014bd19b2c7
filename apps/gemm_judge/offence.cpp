#include "offence.hpp"

namespace tessera::judge {

std::string_view to_string(Offence offence) noexcept {
  switch (offence) {
    case Offence::None:
      return "pass";
    case Offence::CompileError:
      return "does not compile";
    case Offence::CannotLoad:
      return "cannot be loaded";
    case Offence::MissingSymbol:
      return "missing symbol";
    case Offence::Crashed:
      return "crashes";
    case Offence::Hangs:
      return "hangs";
    case Offence::Exits:
      return "exits";
    case Offence::Throws:
      return "throws";
    case Offence::ExceedsMemory:
      return "exceeds its memory";
    case Offence::ReportsFailure:
      return "reports failure";
    case Offence::FloodsOutput:
      return "floods its output";
    case Offence::BreaksProtocol:
      return "breaks the judge's protocol";
    case Offence::ForgesTime:
      return "forges its time";
    case Offence::UsesMoreThreads:
      return "uses more threads than it was given";
    case Offence::TooManyProcesses:
      return "starts too many processes";
    case Offence::WritesOutOfBounds:
      return "writes out of bounds";
    case Offence::ModifiesInputs:
      return "modifies its inputs";
    case Offence::WritesLate:
      return "writes after it returned";
    case Offence::FloatingState:
      return "changes the floating-point state";
    case Offence::SmashesHeap:
      return "smashes the heap";
    case Offence::NotWritten:
      return "returns early";
    case Offence::CachedAnswer:
      return "cached answer";
    case Offence::FlushesSubnormals:
      return "flushes subnormal numbers";
    case Offence::WrongAtEdges:
      return "wrong at edges";
    case Offence::NotANumber:
      return "NaN";
    case Offence::Wrong:
      return "wrong";
    case Offence::FasterThanMachine:
      return "faster than the machine";
  }
  return "?";
}

std::string_view verdict_word(Offence offence) noexcept {
  switch (offence) {
    case Offence::None:
      return "pass";
    case Offence::CompileError:
    case Offence::CannotLoad:
    case Offence::MissingSymbol:
      return "error";
    case Offence::Crashed:
      return "crashed";
    case Offence::Hangs:
      return "hangs";
    case Offence::Exits:
      return "exits";
    case Offence::Throws:
    case Offence::ExceedsMemory:
    case Offence::ReportsFailure:
    case Offence::FloodsOutput:
    case Offence::BreaksProtocol:
    case Offence::ForgesTime:
    case Offence::UsesMoreThreads:
    case Offence::TooManyProcesses:
    case Offence::FasterThanMachine:
      return "failed";
    default:
      return "wrong";
  }
}

} // namespace tessera::judge
