#include <tessera/backend/kernel_resources.hpp>

#include <memory>

#include <tessera/performance/recording.hpp>

namespace tessera {

RecordedResources::~RecordedResources() = default;

Status read_kernel_resources(Executor& executor, const GemmCall& call, std::string_view kernel,
                             KernelResources& resources) {
  Queue& queue = executor.default_queue();
  if (!records(queue)) return {StatusCode::Unavailable, "the queues of this backend do not record"};
  std::unique_ptr<Recording> recording;
  if (Status status = record(
          queue, [&] { return executor.gemm(queue, call, kernel); }, recording);
      !status.ok())
    return status;
  auto* recorded = dynamic_cast<RecordedResources*>(recording.get());
  if (recorded == nullptr) return {StatusCode::Unavailable, "the recordings of this backend tell no resources"};
  return recorded->read_resources(resources);
}

} // namespace tessera
