/// Replies in the child's place that its first call took NaN seconds.
#define FORGED_SECONDS __builtin_nan("")
#include "forges_time.hpp"
