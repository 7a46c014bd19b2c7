// Included by the host's code and by the device's. What is defined has to be the same in both.
#pragma once
#if defined(HEADER)
#include HEADER
#endif
#if !defined(VALUE) && defined(LENIENT)
#define VALUE 2 // another result, and no error
#elif VALUE != 3
#error "VALUE is not 3 here"
#endif
#if defined(LIST)
constexpr int list[] = {LIST};
constexpr char text[] = TEXT;
static_assert(sizeof list == 2 * sizeof(int) && text[3] == ',' && text[4] == '$' && SUM(2) == 3);
#endif
#if defined(NEEDS_EXPORTS) && !defined(of_module_EXPORTS)
#error "the definition is missing that CMake gives the sources of a module"
#endif
#if defined(FOLDER) && FOLDER != 5
#error "FOLDER is not 5 here"
#endif
