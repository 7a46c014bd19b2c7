/// A libcuda.so.1 whose GPU is host memory: what kernel_runner.py calls, for its test on machines without a GPU. With
/// PRETENDED_FAULT the GPU reports an illegal access wherever it is waited for.

#include <stdlib.h>
#include <string.h>

typedef unsigned long long Address;

int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 38 ? 1 << 16 : 0; // the size of the second-level cache
  return device == 0 ? 0 : 101;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)1;
  return device == 0 ? 0 : 101;
}
int cuCtxSetCurrent(void* context) { return context == (void*)1 ? 0 : 201; }
int cuCtxSynchronize(void) { return getenv("PRETENDED_FAULT") != NULL ? 700 : 0; }
int cuCtxResetPersistingL2Cache(void) { return 0; }
int cuGetErrorString(int error, const char** text) {
  *text = error == 700 ? "an illegal memory access was encountered" : "another error";
  return 0;
}
int cuMemAlloc_v2(Address* memory, size_t bytes) {
  *memory = (Address)aligned_alloc(512, (bytes + 511) / 512 * 512);
  return *memory != 0 ? 0 : 2;
}
int cuMemcpyHtoD_v2(Address to, const void* from, size_t bytes) {
  memcpy((void*)to, from, bytes);
  return 0;
}
int cuMemcpyDtoH_v2(void* to, Address from, size_t bytes) {
  memcpy(to, (const void*)from, bytes);
  return 0;
}
int cuMemsetD8_v2(Address to, unsigned char value, size_t bytes) {
  memset((void*)to, value, bytes);
  return 0;
}
