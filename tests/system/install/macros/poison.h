// Macros of other headers, with a text that no compiler takes where it is used. Their origins are named; the test
// defines them, because those headers are not on every system.
#pragma once

#include "poison_of_libraries.h"
#include "poison_of_systems.h"
