#pragma once

/// Examines the results of one kernel, call by call.

#include <cstdint>
#include <string>
#include <vector>

#include "judge.hpp"
#include "trial.hpp"
#include "workload.hpp"

namespace tessera::judge {

/// The kinds of calls that workload.hpp makes.
enum class Kind { WholeNumbers, Subnormal, Permuted, Fresh };

class Examiner {
 public:
  /// All four must outlive this object.
  Examiner(const JudgeRequest& request, const Problem& problem, Workload& workload, Trial& trial)
      : request_(request), problem_(problem), workload_(workload), trial_(trial) {}

  /// Examines one call. The verdict keeps the first offence; a kernel that is wrong is still timed.
  void examine(const Reply& reply, Kind kind, JudgeVerdict& verdict);
  /// Waits for writes that come after the last call, if anything in the child could still make them.
  void examine_end(int last, JudgeVerdict& verdict);

 private:
  std::string offence_around(const Reply& reply, Offence& offence) const;
  std::string offence_in_result(Kind kind, Offence& offence);

  const JudgeRequest& request_;
  const Problem& problem_;
  Workload& workload_;
  Trial& trial_;
  std::vector<std::uint64_t> seen_; ///< fingerprints of the results of all calls
};

} // namespace tessera::judge
