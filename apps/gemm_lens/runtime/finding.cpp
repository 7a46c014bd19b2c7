#include "finding.hpp"

namespace tessera::lens {

void Findings::add(const Finding& finding) {
  constexpr std::size_t most = 1000;
  const auto [at, is_new] = known_.try_emplace({finding.kind, finding.pc, finding.other_pc}, all_.size());
  if (!is_new) {
    if (at->second < all_.size()) ++all_[at->second].times;
    return;
  }
  if (all_.size() < most) all_.push_back(finding);
}

} // namespace tessera::lens
