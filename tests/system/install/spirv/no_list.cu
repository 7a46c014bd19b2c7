#include "functors.hpp"
