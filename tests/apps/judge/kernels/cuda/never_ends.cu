// Loops without end on the device. The verdict must be "hangs" (give --kernel-time-limit 5).
__global__ void spin(float* c) {
  volatile float* flag = c;
  while (*flag != 12345.0f) {
  }
}

extern "C" void solve(const float*, const float*, float* c, int, int, int) { spin<<<1, 1>>>(c); }
