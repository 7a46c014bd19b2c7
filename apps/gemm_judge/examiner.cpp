#include "examiner.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "elements.hpp"

namespace tessera::judge {

void Examiner::examine(const Reply& reply, Kind kind, JudgeVerdict& verdict) {
  Offence offence = Offence::None;
  std::string why = offence_around(reply, offence);
  const bool quiet = offence == Offence::None;
  if (quiet) why = offence_in_result(kind, offence);
  seen_.push_back(workload_.fingerprint());
  if (offence == Offence::None || verdict.offence != Offence::None) return;
  // A wrong result may be a late one: on a busy machine a write can come later than the child waits after each call.
  if (quiet)
    if (const std::optional<Reply> later = trial_.watch(reply.call); later && later->finding == Finding::Late)
      why = offence_around(*later, offence);
  verdict.offence = offence;
  verdict.why = fmt::format("call {}: {}", reply.call + 1, why);
  if (reply.call > 0)
    verdict.why += fmt::format("; {} before it {} right", reply.call, reply.call == 1 ? "was" : "were");
}

void Examiner::examine_end(int last, JudgeVerdict& verdict) {
  if (verdict.offence != Offence::None) return;
  const std::optional<Reply> later = trial_.watch(last);
  if (!later || later->finding == Finding::Nothing) return;
  verdict.why = fmt::format("after the last call: {}", offence_around(*later, verdict.offence));
}

std::string Examiner::offence_around(const Reply& reply, Offence& offence) const {
  const bool a = reply.operand == Operand::A;
  const bool b = reply.operand == Operand::B;
  const auto size = static_cast<std::int64_t>(size_of(a || b ? problem_.type : result_of(problem_.type)));
  const char* name = a ? "A" : b ? "B" : "C";
  const Index ld = a ? problem_.lda : b ? problem_.ldb : problem_.ldc;
  const auto bytes = static_cast<std::int64_t>((a ? problem_.a : b ? problem_.b : problem_.c).bytes);
  if (reply.finding == Finding::OutOfBounds) {
    offence = Offence::WritesOutOfBounds;
    return reply.offset < 0
               ? fmt::format("memory {} bytes in front of {} was changed", -reply.offset, name)
               : fmt::format("memory {} bytes behind the end of {} was changed", reply.offset - bytes, name);
  }
  if (reply.finding == Finding::InputChanged) {
    offence = Offence::ModifiesInputs;
    return fmt::format("{}({}, {}) was changed", name, reply.offset / size / ld, reply.offset / size % ld);
  }
  const std::string said(reply.text, strnlen(reply.text, sizeof reply.text));
  if (reply.finding == Finding::FloatingState) {
    offence = Offence::FloatingState;
    return fmt::format("the kernel left it changed: {}", said);
  }
  if (reply.finding == Finding::Heap) {
    offence = Offence::SmashesHeap;
    return said;
  }
  if (reply.finding == Finding::Late) {
    offence = Offence::WritesLate;
    return fmt::format("{} changed after the kernel had returned and the device was waited for", name);
  }
  return {};
}

std::string Examiner::offence_in_result(Kind kind, Offence& offence) {
  if (workload_.padding_changed()) {
    offence = Offence::WritesOutOfBounds;
    return "the padding between rows of C was changed";
  }
  Mistakes mistakes;
  std::string why;
  if (kind == Kind::WholeNumbers || kind == Kind::Subnormal) {
    mistakes = workload_.check_integers();
    if (mistakes.count == 0) return {};
    why = fmt::format("C({}, {}) is {:g}, not {:g}, with {} numbers", mistakes.row, mistakes.col, mistakes.found,
                      mistakes.expected, kind == Kind::Subnormal ? "subnormal" : "whole");
    if (kind == Kind::Subnormal && mistakes.found == 0) {
      offence = Offence::FlushesSubnormals;
      return why +
             "; a library that is linked with -Ofast or -ffast-math does it, even where it is compiled without: "
             "link it with -O3";
    }
    if (mistakes.k_of_answer > 0)
      why += fmt::format("; it is the product of k = {}, not {}", mistakes.k_of_answer, problem_.shape.k);
  } else if (kind == Kind::Fresh) {
    why = workload_.check_fresh();
    if (why.empty()) return {};
  } else {
    if (!request_.check) return {};
    why = request_.check(workload_.restored().data());
    if (why.empty()) return {};
  }
  const Index elements = problem_.shape.m * problem_.shape.n;
  const Index unwritten = workload_.unwritten();
  if (unwritten == elements) {
    offence = Offence::NotWritten;
    return "C was not written";
  }
  if (elements > 1 && std::find(seen_.begin(), seen_.end(), workload_.fingerprint()) != seen_.end()) {
    offence = Offence::CachedAnswer;
    return "C is bit for bit what an earlier call with other data returned";
  }
  if (unwritten > 0) why = fmt::format("{} of {} elements of C were not written", unwritten, elements);
  const Index nans = workload_.not_a_number();
  if (mistakes.count > 0 && mistakes.only_at_edges) {
    offence = Offence::WrongAtEdges;
  } else if (nans > 0) {
    offence = Offence::NotANumber;
    why = fmt::format("{} of {} elements of C are NaN", nans, elements);
  } else {
    offence = Offence::Wrong;
  }
  return why;
}

} // namespace tessera::judge
