/// Replies in the child's place that its first call took less than no time.
#define FORGED_SECONDS -1e300
#include "forges_time.hpp"
