#include "loader.hpp"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>
#include <string>

namespace tessera::opencl {
namespace {

constexpr const char* loader_variable = "TESSERA_OPENCL_LIBRARY";

struct Loader {
  std::mutex mutex;
  bool tried = false;
  pid_t process = 0; ///< that opened it
  Status status;
  Functions functions;
};

/// Never destroyed: executors call its functions until the process ends.
Loader& loader() {
  static Loader& one = *new Loader;
  return one;
}

std::string last_error() {
  const char* const why = dlerror();
  return why == nullptr ? "the dynamic loader gives no reason" : why;
}

Status open(Functions& functions) {
  if (::getauxval(AT_SECURE) != 0)
    return Status::failure(StatusCode::Unavailable,
                           "a program with more rights than its caller (setuid, setgid, file capabilities) does not "
                           "use OpenCL, whose loader and drivers read variables of the environment that name code and "
                           "files; run it without these rights, or name another backend");
  const char* const named = std::getenv(loader_variable);
  const bool is_named = named != nullptr && *named != '\0';
  const std::string file = is_named ? named : "libOpenCL.so.1";
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Status::failure(
        StatusCode::Unavailable,
        "no OpenCL loader: " + (is_named ? std::string(loader_variable) + " = '" + file + "'" : file) +
            " could not be opened (" + last_error() + "); " +
            (is_named ? "set the variable to the path of libOpenCL.so.1, or unset it"
                      : "install one (Debian: ocl-icd-libopencl1) and a driver for the device (for processors: "
                        "pocl-opencl-icd)"));
  const char* missing = nullptr;
#define TESSERA_OPENCL_FIND(name)                                                          \
  functions.name = reinterpret_cast<decltype(functions.name)>(dlsym(library, "cl" #name)); \
  if (functions.name == nullptr) missing = "cl" #name;
  TESSERA_OPENCL_LATER_FUNCTIONS(TESSERA_OPENCL_FIND)
  missing = nullptr;
  TESSERA_OPENCL_FUNCTIONS(TESSERA_OPENCL_FIND)
#undef TESSERA_OPENCL_FIND
  if (missing == nullptr) return {};
  return Status::failure(StatusCode::Unavailable, "the OpenCL loader " + file + " lacks " + missing +
                                                      " of OpenCL 1.2; install a newer one (Debian: "
                                                      "ocl-icd-libopencl1)");
}

} // namespace

Status open_loader() {
  Loader& one = loader();
  const std::lock_guard lock(one.mutex);
  if (!one.tried) {
    one.status = open(one.functions);
    one.tried = true;
    one.process = ::getpid();
  }
  if (one.status.ok() && one.process != ::getpid())
    return Status::failure(StatusCode::Unavailable,
                           "this process was forked from one that had loaded OpenCL's drivers, whose threads it lacks; "
                           "start it as a new program (in Python: multiprocessing's 'spawn' or 'forkserver'), or use "
                           "OpenCL in it alone");
  return one.status;
}

const Functions& cl() noexcept { return loader().functions; }

} // namespace tessera::opencl
