#include "../../values.hpp"

__device__ int value_of_more = VALUE;
