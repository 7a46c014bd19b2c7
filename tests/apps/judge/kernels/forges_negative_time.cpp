/// Replies in the child's place that its first call took -1 seconds.
#define FORGED_SECONDS -1
#include "forges_time.hpp"
