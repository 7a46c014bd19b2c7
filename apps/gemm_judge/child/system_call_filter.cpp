#include "system_call_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

namespace tessera::judge {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t machine = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t machine = 0; // such a machine has no filter
#endif

/// From this number on a call has the same number on all machines. The first is of Linux 5.1.
constexpr std::uint32_t first_new_call = 424;

/// A program of the classic Berkeley packet filter. Its register holds the number of the system call wherever a rule
/// begins.
class Program {
 public:
  explicit Program(std::span<const CallRow> table) {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, machine, 1, 0);
    answer(ENOSYS); // a 32-bit call would have other numbers
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    jump(BPF_JGE, 0x40000000, 0, 1);
    answer(ENOSYS); // x32 calls
#endif
    for (std::size_t row = 0; row < table.size(); ++row) {
      const auto names_it = [&](const CallRow& other) { return other.call == table[row].call; };
      if (std::ranges::any_of(table.first(row), names_it)) continue; // it is in the rule of its first row
      add_rule(table.subspan(row));
    }
    jump(BPF_JGE, first_new_call, 0, 1);
    answer(ENOSYS);
    answer(EPERM);
  }

  bool install() {
    if (!fits_) return false;
    const sock_fprog program{static_cast<unsigned short>(size_), code_.data()};
    // Without this flag older versions of Linux slow all loads down (speculative store bypass).
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0;
  }

 private:
  /// Adds the rule of the call of the first row. It ends with an answer, so that the next rule finds the number where
  /// it was.
  void add_rule(std::span<const CallRow> table) {
    const std::size_t start = size_;
    jump(BPF_JEQ, static_cast<std::uint32_t>(table.front().call), 0, 0);
    bool is_open = true;
    for (const CallRow& row : table) {
      if (row.call != table.front().call) continue;
      add_row(row);
      is_open = row.test_count > 0;
    }
    if (is_open) answer(EPERM);
    code_[start].jf = distance(start);
  }

  void add_row(const CallRow& row) {
    std::array<std::size_t, 4> failures{}; // jumps to the end of the row
    std::size_t count = 0;
    const auto require = [&](std::uint32_t value) {
      failures[count++] = size_;
      jump(BPF_JEQ, value, 0, 0);
    };
    for (const ArgumentTest& test : std::span(row.tests).first(row.test_count)) {
      const std::size_t low = offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(test.argument);
      load(low);
      if (test.mask != ~std::uint32_t{0}) add({BPF_ALU | BPF_AND | BPF_K, 0, 0, test.mask});
      require(test.value);
      if (!test.is_null) continue;
      load(low + 4);
      require(0);
    }
    answer(row.error);
    for (const std::size_t at : std::span(failures).first(count)) code_[at].jf = distance(at);
  }

  /// Returns how far the end is from an instruction's successor. A jump reaches 255 instructions.
  std::uint8_t distance(std::size_t from) {
    const std::size_t instructions = size_ - from - 1;
    fits_ = fits_ && instructions <= 255;
    return static_cast<std::uint8_t>(instructions);
  }
  void load(std::size_t offset) { add({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)}); }
  void jump(std::uint16_t test, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    add({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, value});
  }
  void answer(int error) {
    const std::uint32_t returned = error == without_effect ? 0 : static_cast<std::uint32_t>(error);
    const std::uint32_t action = error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | returned;
    add({BPF_RET | BPF_K, 0, 0, action});
  }

  void add(const sock_filter& instruction) {
    fits_ = fits_ && size_ < code_.size();
    if (fits_) code_[size_++] = instruction;
  }

  // Not on the heap, where a kernel would find them in memory that it allocates.
  std::array<sock_filter, 1024> code_{};
  std::size_t size_ = 0;
  bool fits_ = true;
};

} // namespace

bool filter_system_calls(std::span<const CallRow> table) { return machine != 0 && Program(table).install(); }

} // namespace tessera::judge
