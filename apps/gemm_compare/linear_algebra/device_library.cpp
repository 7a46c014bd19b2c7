#include "device_library.hpp"

namespace tessera::compare_app {

DeviceLibrary::~DeviceLibrary() {
  if (handle_ != nullptr) static_cast<void>(function<int(void*)>(names_.destroy)(handle_));
}

std::string DeviceLibrary::open() {
  std::string missing;
  if (library_ == nullptr) library_ = cuda::open_library(names_.file, missing);
  return missing;
}

std::string DeviceLibrary::problem_with(std::span<const std::string> functions) {
  if (std::string missing = open(); !missing.empty()) return missing;
  std::vector<std::string> all{names_.create, names_.destroy, names_.set_stream};
  all.insert(all.end(), functions.begin(), functions.end());
  for (const std::string& name : all)
    if (void* found = nullptr; !cuda::find_symbol(library_, name.c_str(), found))
      return fmt::format("this {} has no {} ({}); set {} to another one", names_.file.title, name, cuda::loader_error(),
                         names_.file.variable);
  return {};
}

void* DeviceLibrary::symbol(const std::string& name) {
  if (const std::string missing = open(); !missing.empty()) throw Error(StatusCode::Rejected, missing);
  void* found = nullptr;
  if (!cuda::find_symbol(library_, name.c_str(), found))
    throw Error(StatusCode::Rejected, fmt::format("this {} has no {}", names_.file.title, name));
  return found;
}

void* DeviceLibrary::handle(Executor& executor) {
  if (handle_ == nullptr) {
    void* made = nullptr;
    expect_success(names_.create, function<int(void**)>(names_.create)(&made));
    handle_ = made;
  }
  expect_success(names_.set_stream,
                 function<int(void*, void*)>(names_.set_stream)(handle_, executor.default_queue().native()));
  return handle_;
}

void expect_success(const std::string& function, int status) {
  if (status != 0) throw Error(StatusCode::DeviceError, fmt::format("{}: status {}", function, status));
}

} // namespace tessera::compare_app
