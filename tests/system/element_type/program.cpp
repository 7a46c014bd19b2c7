/// What C++, the C interface, the command line, the judge and a certificate know of the stand-in, one line each.

#include <fstream>
#include <iostream>
#include <string>

#include <tessera/backend.hpp>
#include <tessera/half.hpp>
#include <tessera/status.hpp>

#include "bindings/c/c_api.hpp"
#include "extensions/checking/certificate/arguments.hpp"
#include "extensions/checking/compare/element_source.hpp"
#include "extensions/io/npy_header.hpp"
#include "gemm_compare/options/type_words.hpp"
#include "gemm_judge/child/entry.hpp"
#include "gemm_judge/elements.hpp"

using namespace tessera;

namespace {

constexpr DType stand_in = DType::F16E6;

/// Calls f and prints what it returns, or why it does not.
template <class F>
void line(const char* entry, F f) {
  std::cout << entry << ": ";
  try {
    std::cout << f() << '\n';
  } catch (const Error& error) {
    std::cout << error.what() << '\n';
  }
}

/// The stand-in's number nearest to x.
float rounded(double x) {
  return visit(stand_in, [x]<class T>(std::type_identity<T>) { return static_cast<float>(static_cast<T>(x)); });
}

std::string product(DType type, DType result) {
  float x[4] = {};
  const GemmCall call{
      {.type = type, .m = 1, .n = 1, .k = 1, .a = x, .lda = 1, .b = x + 1, .ldb = 1, .c = x + 2, .ldc = 1}, result};
  if (const Status status = check_gemm(call); !status.ok()) return status.why;
  Executor& reference = executor(Backend::Reference);
  const Status status = reference.Executor::gemm(reference.default_queue(), call);
  return status.ok() ? "computed" : status.why;
}

std::string opened(const char* file, judge::Abi abi) {
  judge::Reply reply{};
  const auto entry = judge::open_entry(file, abi, stand_in, reply);
  if (entry == nullptr) return reply.text;
  return "opened, " + std::to_string(entry->run({{.type = stand_in, .m = 1, .n = 1, .k = 1}}, nullptr));
}

std::string read_file(std::optional<CheckedType> opaque) {
  {
    const f16e6 x[2] = {f16e6(0x1p30f), f16e6(-0.75f)};
    std::ofstream file("stand_in.npy", std::ios::binary);
    file << io::npy_header_of("V2", 1, 2);
    file.write(reinterpret_cast<const char*>(x), sizeof x);
  }
  const CheckedFile file = load_checked_npy("stand_in.npy", opaque);
  const auto source = compare::ElementSource::of(file.first);
  return std::string(checked_type(file.first.type).name) + ' ' +
         std::to_string(compare::element_at<double>(source, 0, 0)) + ' ' +
         std::to_string(compare::element_at<double>(source, 0, 1));
}

std::string kind(CheckedType a, CheckedType b, CheckedType c) {
  const certificate::Kind kind = certificate::kind_of(a, b, c, Math::Strict);
  return std::string(to_string(kind.scalar)) + ' ' + std::string(to_string(kind.result));
}

} // namespace

int main(int, char** arguments) {
  std::cout << std::fixed;
  line("C++", [] {
    return std::string(to_string(stand_in)) + ' ' + std::to_string(static_cast<int>(parse_dtype("f16e6"))) + ' ' +
           std::to_string(size_of(stand_in)) + ' ' + std::string(to_string(dtype_of<Scalar<f16e6>>));
  });
  line("C++ converts", [] { return std::to_string(rounded(1.0009765625)) + ' ' + std::to_string(rounded(1e9)); });
  line("C++ misspelt", [] { return std::string(to_string(parse_dtype("f16e5"))); });
  line("C++ product", [] { return product(stand_in, stand_in); });
  line("C++ result", [] { return product(DType::F64, stand_in); });
  line("C interface",
       [] { return std::string(to_string(c_api::checked_type(static_cast<tessera_dtype>(7), "type"))); });
  line("C interface refuses",
       [] { return std::string(to_string(c_api::checked_type(static_cast<tessera_dtype>(4), "type"))); });
  line("C++ file", [] { return io::npy_header_of(stand_in, 1, 1); });
  line("command line", [] { return std::string(to_string(compare_app::parse_type("f16e6", true, false))); });
  line("command line refuses", [] { return std::string(to_string(compare_app::parse_type("e4m3", true, false))); });
  line("command line helps", [] { return compare_app::help_of_types() + " / " + compare_app::help_of_results(); });
  line("judge", [] {
    return judge::with_types(stand_in, []<class T, class R>(std::type_identity<T>, std::type_identity<R>) {
      return judge::leetgpu_function(stand_in) + ' ' + std::to_string(element_type(stand_in).kernel) + ' ' +
             std::to_string(std::is_same_v<T, f16e6> && std::is_same_v<R, f16e6>);
    });
  });
  line("judge leetgpu", [&] { return opened(arguments[1], judge::Abi::Leetgpu); });
  line("judge tessera", [&] { return opened(arguments[1], judge::Abi::Tessera); });
  line("judge without", [&] { return opened(arguments[2], judge::Abi::Leetgpu); });
  const auto checked = static_cast<CheckedType>(stand_in);
  line("check", [&] {
    const CheckedType type = parse_checked_type("float16_e6");
    return std::string(checked_type(type).name) + ' ' + std::to_string(checked_type(type).bytes) + ' ' +
           kind(type, type, CheckedType::F32) + ' ' + kind(CheckedType::F32, CheckedType::F32, type);
  });
  line("check refuses", [&] { return kind(CheckedType::F64, CheckedType::F64, checked); });
  line("check reads", [&] { return read_file(checked); });
  line("check reads bytes", [&] { return read_file(std::nullopt); });
  return 0;
}
