/// Replies in the child's place that its first call took a nanosecond.
#define FORGED_SECONDS 1e-9
#include "forges_time.hpp"
