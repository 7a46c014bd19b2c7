/// Replies in the child's place that its first call took 0 seconds.
#define FORGED_SECONDS 0
#include "forges_time.hpp"
