/// Signals that interrupt system calls: a timer whose handler was installed without SA_RESTART ticks all the time.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <csignal>
#include <thread>

#include <boost/test/unit_test.hpp>

#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/checking/check.hpp>
#include <tessera/interop/io.hpp>

#include "support/files.hpp"

namespace tessera::test {
namespace {

volatile std::sig_atomic_t ticks = 0;

/// Lets the timer tick in this thread alone, so that the other end of a pipe is not disturbed.
class Ticking {
 public:
  Ticking() {
    struct sigaction action {};
    action.sa_handler = [](int) { ticks = ticks + 1; };
    sigaction(SIGALRM, &action, &before_);
    const itimerval often{{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~Ticking() {
    const itimerval never{};
    setitimer(ITIMER_REAL, &never, nullptr);
    sigaction(SIGALRM, &before_, nullptr);
  }
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;

 private:
  struct sigaction before_ {};
};

struct Pipes : Folder {
  const std::filesystem::path pipe = path() / "pipe";
  Pipes() { BOOST_TEST_REQUIRE(mkfifo(pipe.c_str(), 0600) == 0); }

  /// Does something at the other end of the pipe, after some ticks, in a thread that gets no signals.
  template <class Work>
  std::thread at_the_other_end(Work work) const {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    std::thread thread([work] {
      usleep(50000);
      work();
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(interrupted, Pipes)

BOOST_AUTO_TEST_CASE(a_pipe_is_read) {
  std::thread writer = at_the_other_end([this] {
    const int file = open(pipe.c_str(), O_WRONLY);
    for (const char* part : {"1,2\n", "3,4\n"}) {
      usleep(20000);
      BOOST_TEST(::write(file, part, 4) == 4);
    }
    close(file);
  });
  Matrix<float> read;
  {
    const Ticking ticking;
    read = load_csv<float>(pipe);
  }
  writer.join();
  BOOST_TEST((read == Matrix<float>{{1, 2}, {3, 4}}));
  BOOST_TEST(ticks > 0);
}

BOOST_AUTO_TEST_CASE(a_pipe_is_written) {
  const Matrix<float> matrix(300, 300, 1.0f); // more than a pipe holds
  for (const bool text : {false, true}) {
    std::string seen;
    std::thread reader = at_the_other_end([&] {
      const int file = open(pipe.c_str(), O_RDONLY);
      char bytes[4096];
      for (ssize_t count = 0; (count = ::read(file, bytes, sizeof bytes)) > 0; usleep(200))
        seen.append(bytes, static_cast<std::size_t>(count));
      close(file);
    });
    {
      const Ticking ticking;
      if (text)
        write_text_file(pipe, std::string(300000, 'x'));
      else
        save_npy(pipe, matrix);
    }
    reader.join();
    BOOST_TEST(seen.size() == (text ? 300000u : 300u * 300u * sizeof(float) + 128u));
  }
}

BOOST_AUTO_TEST_CASE(files_are_written_and_read) {
  const auto matrix = Matrix<float>::random(500, 500, Seed{1});
  const Ticking ticking;
  for (int round = 0; round < 20; ++round) {
    save_npy(path() / "a.npy", matrix);
    BOOST_TEST((load_npy<float>(path() / "a.npy") == matrix));
  }
  save_csv(path() / "a.csv", matrix.block(0, 0, 50, 50));
  BOOST_TEST((load_csv<float>(path() / "a.csv") == matrix.block(0, 0, 50, 50)));
}

BOOST_AUTO_TEST_CASE(a_product_of_files_is_computed) {
  save_npy(path() / "a.npy", Matrix<float>::random(600, 600, Seed{1}));
  FileProduct product{.a = path() / "a.npy", .b = path() / "a.npy", .out = path() / "c.npy", .memory_limit = 32 << 20};
  {
    const Ticking ticking;
    gemm_files(product);
  }
  const auto a = load_npy<float>(path() / "a.npy");
  BOOST_TEST((load_npy<float>(path() / "c.npy") == gemm(a, a, Backend::Reference)));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
