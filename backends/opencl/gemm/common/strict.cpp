#include "strict.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <tessera/backend/kernel.hpp>

#include "opencl/memory/copies.hpp"
#include "opencl/queue/scratch.hpp"
#include "strided.hpp"

namespace tessera::opencl {
namespace source {

std::string_view naive_coalesced_cl();

} // namespace source

namespace {

constexpr Index m = 3, n = 5, k = canonical_segment + 7;

/// Element e of an operand: whole numbers that need all digits of a sum, scaled so that some rows are subnormal.
template <class T>
T known_element(Index row, Index e) {
  const auto digits = static_cast<T>((e * 2654435761 % 1000003) - 500001);
  const int smallest = std::numeric_limits<T>::min_exponent;
  return std::ldexp(digits, row == 0 ? smallest - 20 : row == 1 ? -40 : -10) / 3;
}

template <class T>
std::vector<T> known_result(const std::vector<T>& a, const std::vector<T>& b, T alpha, T beta, std::vector<T> c) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      T sum{};
      for (Index first = 0; first < k; first += canonical_segment) {
        T chain{};
        for (Index p = first; p < std::min(k, first + canonical_segment); ++p)
          chain = std::fma(a[static_cast<std::size_t>(i * k + p)], b[static_cast<std::size_t>(p * n + j)], chain);
        sum = first == 0 ? chain : sum + chain;
      }
      T& result = c[static_cast<std::size_t>(i * n + j)];
      result = std::fma(beta, result, alpha * sum);
    }
  return c;
}

template <class T>
Status compare(Context& context, Queue& queue) {
  std::vector<T> a(m * k), b(k * n), c(m * n), computed(m * n);
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < k; ++p) a[static_cast<std::size_t>(i * k + p)] = known_element<T>(i, i * k + p);
  for (Index e = 0; e < k * n; ++e) b[static_cast<std::size_t>(e)] = known_element<T>(e % 97 == 0 ? 1 : 2, e + 7);
  for (Index e = 0; e < m * n; ++e) c[static_cast<std::size_t>(e)] = known_element<T>(e / n, e + 11);
  const T alpha = T(0.7), beta = T(-1.3);
  const std::vector<T> expected = known_result(a, b, alpha, beta, c);

  Scratch on_device;
  if (Status status = on_device.allocate(queue, (a.size() + b.size() + c.size()) * sizeof(T)); !status.ok())
    return status;
  T* const to = on_device.as<T>();
  GemmCall call{{.type = dtype_of<T>, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta}};
  call.a = to;
  call.lda = k;
  call.b = to + a.size();
  call.ldb = n;
  call.c = to + a.size() + b.size();
  call.ldc = n;
  const cl_command_queue commands = command_queue(queue).get();
  const DeviceMemory& memory = command_queue(queue).memory();
  const auto row = [](const std::vector<T>& x) {
    return CopyShape{x.size() * sizeof(T), x.size() * sizeof(T), x.size() * sizeof(T), 1};
  };
  if (Status s = copy_in(memory, commands, to, a.data(), row(a), true); !s.ok()) return s;
  if (Status s = copy_in(memory, commands, to + a.size(), b.data(), row(b), true); !s.ok()) return s;
  if (Status s = copy_in(memory, commands, call.c, c.data(), row(c), true); !s.ok()) return s;
  if (Status s = launch_elements(queue, {"02_naive_coalesced.cl", source::naive_coalesced_cl}, "naive_coalesced", call);
      !s.ok())
    return s;
  if (Status s = copy_out(memory, commands, computed.data(), call.c, row(computed), true); !s.ok()) return s;
  std::size_t differing = 0;
  for (std::size_t e = 0; e < computed.size(); ++e)
    differing += std::memcmp(&computed[e], &expected[e], sizeof(T)) != 0 ? 1 : 0;
  if (differing == 0) return {};
  return {StatusCode::Unavailable,
          context.device().name + " (" + context.device().platform_name + ") computes " + std::to_string(differing) +
              " of the " + std::to_string(computed.size()) + " elements of a known strict product in " +
              (sizeof(T) == 8 ? "f64" : "f32") +
              " with other bits than this processor; update its driver, or use another device or backend"};
}

Status check_device(Context& context, Queue& queue, DType type) {
  std::string why = why_not_strict(context.device(), type);
  if (!why.empty()) return {StatusCode::Unavailable, std::move(why)};
  return type == DType::F64 ? compare<double>(context, queue) : compare<float>(context, queue);
}

} // namespace

Status keeps_contract(Queue& queue, DType type) noexcept {
  return command_queue(queue).context().strict(type, check_device, queue);
}

} // namespace tessera::opencl
