// A program that includes X11's headers first, as any order may be. Where they are missing it has their macros.
#if __has_include(<X11/Xutil.h>)
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#else
#define None 0L
#define Bool int
#define Status int
#define Success 0
#define True 1
#define False 0
#define Always 2
#define Complex 0
#endif

#include <cstdio>

#include <tessera/complex.hpp>
#include <tessera/epilogue.hpp>
#include <tessera/tessera.hpp>

int main() {
  const tessera::Op op = tessera::Op::NoTranspose;
  const tessera::Activation activation = tessera::Activation::Identity;
  const tessera::CallStatus status = tessera::CallStatus::success();
  const Status of_x11 = Success;
  const std::complex<float> a[1] = {{0, 2}};
  std::complex<float> c[1] = {};
  tessera::gemm(op, tessera::Op::ConjugateTranspose, 1, 1, 1, std::complex<float>(1), a, 1, a, 1,
                std::complex<float>(0), c, 1, {.backend = tessera::Backend::Reference});
  const bool right =
      c[0] == std::complex<float>(4) && status.ok() && of_x11 == 0 && static_cast<long>(activation) == None;
  std::puts(right ? "right" : "wrong");
}
