/// Replies in the child's place that its first call took infinitely many seconds.
#define FORGED_SECONDS __builtin_inf()
#include "forges_time.hpp"
