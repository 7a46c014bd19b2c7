/* A backend of another author in C. */

#include <stdio.h>
#include <string.h>

#include <tessera/tessera.h>

static int failures = 0;
#define CHECK(condition)                                     \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                            \
    }                                                        \
  } while (0)

int main(void) {
  const float a[4] = {1, 2, 3, 4};
  float c[4] = {0, 0, 0, 0};
  tessera_backend backend = TESSERA_AUTO;
  tessera_options options = tessera_default_options();
  tessera_executor* executor = NULL;

  CHECK(tessera_backend_name((tessera_backend)(TESSERA_OPENCL + 1)) == NULL);
  CHECK(tessera_find_backend("cuda", &backend) == TESSERA_OK && backend == TESSERA_CUDA);
  CHECK(tessera_find_backend("standin", &backend) == TESSERA_OK && backend > TESSERA_OPENCL);
  CHECK(strcmp(tessera_backend_name(backend), "standin") == 0);
  CHECK(tessera_backend_available(backend) == TESSERA_OK);
  options.backend = backend;
  CHECK(tessera_gemm_f32(TESSERA_NONE, TESSERA_NONE, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2, &options) == TESSERA_OK);
  CHECK(c[0] == 7 && c[1] == 10 && c[2] == 15 && c[3] == 22);
  CHECK(tessera_get_executor(backend, &executor) == TESSERA_OK);
  CHECK(tessera_executor_backend(executor) == backend);
  CHECK(strcmp(tessera_executor_device(executor), "stand-in") == 0);

  CHECK(tessera_find_backend("standing", &backend) == TESSERA_INVALID_ARGUMENT);
  CHECK(strstr(tessera_last_error(), "did you mean 'standin'?") != NULL);
  CHECK(strstr(tessera_last_error(), "no libtessera_standing.so") != NULL);
  CHECK(tessera_find_backend(NULL, &backend) == TESSERA_INVALID_ARGUMENT);
  CHECK(tessera_find_backend("cuda", NULL) == TESSERA_INVALID_ARGUMENT);
  return failures == 0 ? 0 : 1;
}
