#include "context.hpp"

#include <algorithm>
#include <functional>

#include <tessera/backend/log.hpp>

#include "program_cache.hpp"
#include "status.hpp"

namespace tessera::opencl {
namespace source {

std::string_view element_cl();

} // namespace source

namespace {

/// Returns the compiled program's binary, or an empty text where the driver gives none.
std::string binary_of(cl_program program) {
  std::size_t bytes = 0;
  if (cl().GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS || bytes == 0)
    return {};
  std::string binary(bytes, '\0');
  char* to = binary.data();
  if (cl().GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr) != CL_SUCCESS) return {};
  return binary;
}

/// Makes a program of a binary that was kept. Returns null where the driver refuses it: it then is compiled again.
cl_program program_of(cl_context context, const Device& device, const std::string& binary, const std::string& options) {
  const std::size_t bytes = binary.size();
  const auto* const from = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int taken = CL_SUCCESS, error = CL_SUCCESS;
  const cl_program program = cl().CreateProgramWithBinary(context, 1, &device.id, &bytes,
                                                          const_cast<const unsigned char**>(&from), &taken, &error);
  if (error == CL_SUCCESS && taken == CL_SUCCESS)
    error = cl().BuildProgram(program, 1, &device.id, options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS && taken == CL_SUCCESS) return program;
  if (log_dispatch())
    log_line("opencl: " + device.name + " refuses a compiled program that was kept (" +
             name_of(error != CL_SUCCESS ? error : taken) + "); it is compiled again");
  if (program != nullptr) static_cast<void>(cl().ReleaseProgram(program));
  return nullptr;
}

} // namespace

Program::~Program() {
  for (const auto& [name, kernels] : idle_)
    for (const cl_kernel kernel : kernels) static_cast<void>(cl().ReleaseKernel(kernel));
  static_cast<void>(cl().ReleaseProgram(program_));
}

Status Program::take(const char* name, cl_kernel& kernel) {
  const std::lock_guard lock(mutex_);
  auto found = idle_.find(name);
  if (found == idle_.end()) found = idle_.emplace(name, std::vector<cl_kernel>()).first;
  std::vector<cl_kernel>& idle = found->second;
  if (!idle.empty()) {
    kernel = idle.back();
    idle.pop_back();
    return {};
  }
  idle.reserve(idle.capacity() + 1); // so that give_back() needs no memory
  cl_int error = CL_SUCCESS;
  kernel = cl().CreateKernel(program_, name, &error);
  return check(error, name);
}

void Program::give_back(const char* name, cl_kernel kernel) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = idle_.find(name);
  if (found != idle_.end() && found->second.size() < found->second.capacity())
    found->second.push_back(kernel);
  else
    static_cast<void>(cl().ReleaseKernel(kernel));
}

Status Program::needs(const char* name, cl_device_id device, KernelNeeds& needs) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = needs_.find(name); known != needs_.end()) {
      needs = known->second;
      return {};
    }
  }
  cl_kernel kernel = nullptr;
  if (Status status = take(name, kernel); !status.ok()) return status;
  cl_ulong private_bytes = 0;
  cl_int error = cl().GetKernelWorkGroupInfo(kernel, device, CL_KERNEL_WORK_GROUP_SIZE, sizeof needs.most_work_items,
                                             &needs.most_work_items, nullptr);
  if (error == CL_SUCCESS)
    error = cl().GetKernelWorkGroupInfo(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE, sizeof private_bytes,
                                        &private_bytes, nullptr);
  give_back(name, kernel);
  if (Status status = check(error, name); !status.ok()) return status;
  needs.private_bytes = private_bytes;
  const std::lock_guard lock(mutex_);
  needs_.emplace(name, needs);
  return {};
}

Status Context::create(const Device& device, std::unique_ptr<Context>& context) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(device.platform), 0};
  cl_int error = CL_SUCCESS;
  const cl_context made = cl().CreateContext(properties, 1, &device.id, nullptr, nullptr, &error);
  if (Status status = check(error, "making a context on the device"); !status.ok()) return status;
  context.reset(new (std::nothrow) Context(device, made));
  if (context != nullptr) return {};
  static_cast<void>(cl().ReleaseContext(made));
  return {StatusCode::OutOfMemory, {}};
}

Context::~Context() {
  programs_.clear();
  il_programs_.clear();
  static_cast<void>(cl().ReleaseContext(context_));
}

/// How a program is made where it was not kept.
struct Context::Recipe {
  const char* name;
  std::string options;
  std::string code; ///< all of it, with what tells it from code of another kind
  std::function<cl_program(cl_int& error)> create;
};

Status Context::compile(const Recipe& recipe, cl_program& program) const {
  cl_int error = CL_SUCCESS;
  program = recipe.create(error);
  if (Status status = check(error, recipe.name); !status.ok()) return status;
  error = cl().BuildProgram(program, 1, &device_.id, recipe.options.c_str(), nullptr, nullptr);
  if (error == CL_SUCCESS) return {};
  std::size_t bytes = 0;
  std::string log;
  if (cl().GetProgramBuildInfo(program, device_.id, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes) == CL_SUCCESS) {
    log.resize(bytes);
    static_cast<void>(cl().GetProgramBuildInfo(program, device_.id, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr));
  }
  constexpr std::size_t most_shown = 2000;
  log.resize(std::min({log.size(), log.find('\0'), most_shown}));
  static_cast<void>(cl().ReleaseProgram(program));
  return {StatusCode::DeviceError,
          "the compiler of " + device_.platform_name + " fails on " + recipe.name + " with '" + recipe.options + "': " +
              name_of(error) + "; update the driver, or use another device" + (log.empty() ? "" : ". It says: " + log)};
}

/// Reads the program that is kept, or compiles it and keeps it.
Status Context::make(const Recipe& recipe, std::unique_ptr<Program>& program) const {
  const std::string key = device_.platform_name + '\n' + device_.name + '\n' + device_.versions + '\n' +
                          recipe.options + '\n' + recipe.code; // all that a compiled program depends on
  cl_program made = nullptr;
  if (device_.keeps_programs)
    if (const std::string binary = kept_binary(key); !binary.empty())
      made = program_of(context_, device_, binary, recipe.options);
  if (made == nullptr) {
    if (Status status = compile(recipe, made); !status.ok()) return status;
    if (device_.keeps_programs)
      if (const std::string binary = binary_of(made); !binary.empty()) keep_binary(key, binary);
  }
  program = std::make_unique<Program>(made);
  return {};
}

Status Context::program(const Source& source, const std::string& options, Program*& program) noexcept try {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Program>& known = programs_[{source.name, options}];
  if (known == nullptr) {
    const std::string_view parts[] = {source::element_cl(), source.text()}; // all files need the first one
    const char* const texts[] = {parts[0].data(), parts[1].data()};
    const std::size_t lengths[] = {parts[0].size(), parts[1].size()};
    const Recipe recipe{source.name, "-cl-std=CL1.2 " + options + (device_.has_f64 ? " -D HAS_F64" : ""),
                        std::string(parts[0]) + std::string(parts[1]), [&](cl_int& error) {
                          // The header only declares the texts as not constant.
                          return cl().CreateProgramWithSource(context_, 2, const_cast<const char**>(texts), lengths,
                                                              &error);
                        }};
    if (Status status = make(recipe, known); !status.ok()) return status;
  }
  program = known.get();
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status Context::program(const Il& il, Program*& program) noexcept try {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Program>& known = il_programs_[il.code];
  if (known == nullptr) {
    const Recipe recipe{il.name, device_.divides_exactly ? "-cl-fp32-correctly-rounded-divide-sqrt" : "",
                        "intermediate language\n" + std::string(static_cast<const char*>(il.code), il.bytes),
                        [&](cl_int& error) { return device_.create_with_il(context_, il.code, il.bytes, &error); }};
    if (Status status = make(recipe, known); !status.ok()) return status;
  }
  program = known.get();
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status Context::strict(DType type, Status (*check)(Context&, Queue&, DType), Queue& queue) noexcept {
  return known(type == DType::F64 ? f64_ : f32_, [&] { return check(*this, queue, type); });
}

} // namespace tessera::opencl
