#include "race_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/status.hpp>

namespace tessera::compare_app {

void refuse_words_of_races(const CommandLine& words, std::initializer_list<std::string_view> taken,
                           std::string_view task) {
  const struct {
    std::string_view option;
    bool given;
  } all[] = {{"--cpu", words.cpu},
             {"--gpu", words.gpu},
             {"--backend", !words.backends.empty()},
             {"--kernels", !words.kernels.empty()},
             {"--kernel", !words.judged.empty()},
             {"--cblas", !words.cblas.empty()},
             {"--list", words.list},
             {"--op", !words.operation.empty()},
             {"--op-plugin", !words.op_plugins.empty()},
             {"--sizes", !words.sizes.empty()},
             {"--shape", !words.shapes.empty()},
             {"--result", !words.result.empty()},
             {"--math", !words.maths.empty()},
             {"--dist", !words.distribution.empty()},
             {"--seed", !words.seed.empty()},
             {"--ld-pad", !words.ld_pad.empty()},
             {"--a", !words.file_a.empty()},
             {"--b", !words.file_b.empty()},
             {"--c", !words.file_c.empty()},
             {"--out", !words.file_out.empty()},
             {"--check", words.check},
             {"--lens", !words.lens.empty()},
             {"--distributed", words.distributed},
             {"--repeat", !words.repeat.empty()},
             {"--timing", !words.timing.empty()},
             {"--time-limit", !words.time_limit.empty()},
             {"--threads", !words.threads.empty()},
             {"--measure-ceilings", words.measure_ceilings},
             {"--verify", words.verify},
             {"--preset", !words.preset.empty()},
             {"--csv", !words.csv.empty()},
             {"--html", !words.html.empty()},
             {"--markdown", !words.markdown.empty()},
             {"--report", !words.report.empty()},
             {"--diff", !words.diff.empty()},
             {"--columns", !words.columns.empty()},
             {"--errors", words.errors},
             {"tune", words.tunes}};
  for (const auto& [option, given] : all)
    if (given && std::find(taken.begin(), taken.end(), option) == taken.end())
      throw InvalidArgument(fmt::format("{}: makes no sense with {}", option, task));
}

} // namespace tessera::compare_app
