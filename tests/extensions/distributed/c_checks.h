#ifndef TESSERA_TESTS_C_CHECKS_H
#define TESSERA_TESTS_C_CHECKS_H

/* What the programs of the interface for C share: checks, each of which counts its failure and names the rank. */
#include <stdio.h>
#include <string.h>

#include <tessera/distributed/tessera_distributed.h>

static int failures = 0, rank = 0;

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "rank %d, line %d: not true: %s\n", rank, __LINE__, #condition); \
      ++failures;                                                                      \
    }                                                                                  \
  } while (0)

static void expect(tessera_status status, tessera_status expected, const char* part) {
  if (status == expected && strstr(tessera_last_error(), part) != NULL) return;
  fprintf(stderr, "rank %d: status %d, not %d, or '%s' lacks '%s'\n", rank, (int)status, (int)expected,
          tessera_last_error(), part);
  ++failures;
}

#endif
