/// The program that the lens makes of a kernel's file: it calls the kernel's function and writes what it saw.

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "gemm_lens/device/include/tessera_lens/runtime.hpp"
#include "gemm_lens/runtime/finding.hpp"
#include "gemm_lens/runtime/memory.hpp"
#include "gemm_lens/runtime/thread.hpp"
#include "product.hpp"
#include "report.hpp"

extern "C" {
// What a kernel's file may define.
[[gnu::weak]] void solve(const float* a, const float* b, float* c, int m, int n, int k);
[[gnu::weak]] void solve_f64(const double* a, const double* b, double* c, int m, int n, int k);
[[gnu::weak]] int tessera_kernel(const tessera_kernel_call* call);
[[gnu::weak]] const char* tessera_kernel_reject(const tessera_kernel_call* call);
/// What the lens writes for a rung.
[[gnu::weak]] const char* tessera_lens_rung(const tessera_kernel_call* call);
}

namespace tessera::lens {
namespace {

Task task;
Product product;
Outcome outcome;
Context main_context, host_context;
bool reported = false;

/// Calls the function. Returns why it did not take the product; empty if it did.
std::string call_kernel() {
  const tessera_kernel_call& call = product.call();
  if (tessera_lens_rung != nullptr) {
    const char* const why = tessera_lens_rung(&call);
    return why == nullptr ? "" : why;
  }
  if (tessera_kernel != nullptr) {
    if (const char* const why = tessera_kernel_reject == nullptr ? nullptr : tessera_kernel_reject(&call)) return why;
    const int status = tessera_kernel(&call);
    return status == 0 ? "" : "tessera_kernel() returned " + std::to_string(status);
  }
  if (task.trans_a || task.trans_b || task.alpha != 1 || task.beta != 0 || task.ld_pad > 0)
    return "solve() has no transposes, alpha, beta and leading dimensions; leave the options out, or export "
           "tessera_kernel";
  // In solve()'s letters A is M×N, B is N×K and C is M×K.
  const int m = static_cast<int>(task.m), n = static_cast<int>(task.k), k = static_cast<int>(task.n);
  if (task.f64 && solve_f64 != nullptr)
    solve_f64(static_cast<const double*>(call.a), static_cast<const double*>(call.b), static_cast<double*>(call.c), m,
              n, k);
  else if (!task.f64 && solve != nullptr)
    solve(static_cast<const float*>(call.a), static_cast<const float*>(call.b), static_cast<float*>(call.c), m, n, k);
  else
    return std::string("it exports neither ") + (task.f64 ? "solve_f64" : "solve") +
           " nor tessera_kernel; is extern \"C\" missing?";
  return "";
}

void host_begins() {
  try {
    const std::string why = call_kernel();
    if (!why.empty()) {
      outcome.ended = "rejected";
      outcome.detail = why;
    }
  } catch (const std::exception& error) {
    outcome.ended = "exception";
    outcome.detail = error.what();
  } catch (...) {
    outcome.ended = "exception";
  }
  switch_context(host_context, main_context);
  __builtin_unreachable();
}

void report() {
  if (reported) return;
  reported = true;
  write_report(task.report, outcome);
}

void on_exit_of_code() {
  outcome.ended = "exit";
  if (current != nullptr && current->count > 0) outcome.pc = current->events[current->count - 1].pc;
  report();
}

void on_signal(int signal, siginfo_t* info, void*) {
  if (signal == SIGALRM) {
    stop_requested = true;
    return;
  }
  if (reported) _exit(3);
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  const Thread* const thread = current;
  const Event* const last = thread != nullptr && thread->count > 0 ? &thread->events[thread->count - 1] : nullptr;
  const bool fault = signal == SIGSEGV || signal == SIGBUS;
  outcome.detail = strsignal(signal);
  if (fault && below_stack(address)) stop("stack", last != nullptr ? last->pc : 0);
  if (fault && last != nullptr && last->kind != EventKind::Flow) {
    Finding made;
    made.kind = "out_of_bounds";
    made.pc = last->pc;
    made.access = last->kind;
    made.size = last->size;
    made.thread = thread->index;
    made.block = block_index;
    made.offset = static_cast<std::int64_t>(last->address);
    made.detail = "fault";
    findings().add(made);
    stop("fault", last->pc);
  }
  stop("signal", last != nullptr ? last->pc : 0);
}

void catch_signals() {
  static char stack[64 << 10];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM, SIGTRAP})
    sigaction(signal, &action, nullptr);
}

/// Leaves the code so much memory of its own. The GPU's memory, stacks and shadows are shared mappings, which do not
/// count.
void limit_memory() {
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = std::size_t{2} << 30;
  setrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = limit.rlim_max = 0;
  setrlimit(RLIMIT_CORE, &limit);
}

bool read_task(int argc, char** argv) {
  if (argc != 12) return false;
  task.report = argv[1];
  task.f64 = std::string(argv[2]) == "f64";
  task.m = std::atol(argv[3]);
  task.n = std::atol(argv[4]);
  task.k = std::atol(argv[5]);
  task.trans_a = std::atoi(argv[6]) != 0;
  task.trans_b = std::atoi(argv[7]) != 0;
  task.alpha = std::strtod(argv[8], nullptr);
  task.beta = std::strtod(argv[9], nullptr);
  task.ld_pad = std::atol(argv[10]);
  task.seconds = std::atoi(argv[11]);
  return true;
}

} // namespace

void stop(const char* reason, std::uint32_t pc) {
  stop_requested = false;
  outcome.ended = reason;
  outcome.pc = pc;
  current = nullptr;
  static Context never;
  switch_context(never, main_context);
  __builtin_unreachable();
}

void unsupported(const char* what) {
  outcome.detail = what;
  stop("ptx", pc_of(__builtin_return_address(0)));
}

int run(int argc, char** argv) {
  if (!read_task(argc, argv)) {
    std::fputs("this program is started by gemm_compare --lens\n", stderr);
    return 2;
  }
  if (!reserve_stacks() || !device_memory().reserve() || !product.prepare(task)) {
    outcome.ended = "no_memory";
    report();
    return 0;
  }
  limit_memory();
  catch_signals();
  std::atexit(on_exit_of_code);
  itimerval limit{};
  limit.it_value.tv_sec = task.seconds;
  setitimer(ITIMER_REAL, &limit, nullptr);
  prepare(host_context, -1, host_begins);
  switch_context(main_context, host_context);
  current = nullptr;
  if (outcome.ended.empty()) {
    outcome.wrong = product.compare();
    outcome.checked = true;
  }
  report();
  std::fflush(nullptr);
  _exit(0); // destructors of a learner's objects may do anything
}

} // namespace tessera::lens

int main(int argc, char** argv) { return tessera::lens::run(argc, argv); }
