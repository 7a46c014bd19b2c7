#include "system_call_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
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
  explicit Program(const std::vector<CallRow>& table) {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, machine, 1, 0);
    answer(ENOSYS); // a 32-bit call would have other numbers
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    jump(BPF_JGE, 0x40000000, 0, 1);
    answer(ENOSYS); // x32 calls
#endif
    for (auto row = table.begin(); row != table.end(); ++row) {
      const auto names_it = [&](const CallRow& other) { return other.call == row->call; };
      if (std::any_of(table.begin(), row, names_it)) continue; // it is in the rule of its first row
      std::vector<CallRow> rows;
      std::copy_if(row, table.end(), std::back_inserter(rows), names_it);
      add_rule(rows);
    }
    jump(BPF_JGE, first_new_call, 0, 1);
    answer(ENOSYS);
    answer(EPERM);
  }

  bool install() {
    if (!fits_) return false;
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    // Without this flag older versions of Linux slow all loads down (speculative store bypass).
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0;
  }

 private:
  /// Adds the rule of one call. It ends with an answer, so that the next one finds the number where it was.
  void add_rule(const std::vector<CallRow>& rows) {
    const std::size_t start = code_.size();
    jump(BPF_JEQ, static_cast<std::uint32_t>(rows.front().call), 0, 0);
    for (const CallRow& row : rows) add_row(row);
    if (!rows.back().tests.empty()) answer(EPERM);
    code_[start].jf = distance(start);
  }

  void add_row(const CallRow& row) {
    std::vector<std::size_t> failures; // jumps to the end of the row
    const auto require = [&](std::uint32_t value) {
      failures.push_back(code_.size());
      jump(BPF_JEQ, value, 0, 0);
    };
    for (const ArgumentTest& test : row.tests) {
      const std::size_t low = offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(test.argument);
      load(low);
      if (test.is_null) {
        require(0);
        load(low + 4);
        require(0);
        continue;
      }
      if (test.mask != ~std::uint32_t{0}) code_.push_back({BPF_ALU | BPF_AND | BPF_K, 0, 0, test.mask});
      require(test.value);
    }
    answer(row.error);
    for (const std::size_t at : failures) code_[at].jf = distance(at);
  }

  /// Returns how far the end is from an instruction's successor. A jump reaches 255 instructions.
  std::uint8_t distance(std::size_t from) {
    const std::size_t instructions = code_.size() - from - 1;
    fits_ = fits_ && instructions <= 255;
    return static_cast<std::uint8_t>(instructions);
  }
  void load(std::size_t offset) {
    code_.push_back({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)});
  }
  void jump(std::uint16_t test, std::uint32_t value, std::uint8_t if_true, std::uint8_t if_false) {
    code_.push_back({static_cast<std::uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, value});
  }
  void answer(int error) {
    const std::uint32_t action = error == 0 ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
    code_.push_back({BPF_RET | BPF_K, 0, 0, action});
  }

  std::vector<sock_filter> code_;
  bool fits_ = true;
};

} // namespace

bool filter_system_calls(const std::vector<CallRow>& table) { return machine != 0 && Program(table).install(); }

} // namespace tessera::judge
