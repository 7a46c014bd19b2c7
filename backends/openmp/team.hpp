#pragma once

#include <memory>

#include "cpu/team.hpp"

namespace tessera::openmp {

std::unique_ptr<cpu::Team> make_team(int threads);

} // namespace tessera::openmp
