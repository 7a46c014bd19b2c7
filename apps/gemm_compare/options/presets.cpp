#include "presets.hpp"

#include <array>

#include <fmt/format.h>

#include "common/words.hpp"

namespace tessera::compare_app {
namespace {

constexpr const char* tiles = "shared_tile_[13]*"; // shared_tile_16 and shared_tile_32

constexpr std::array blog_figures{
    Published{.kernels = "naive_strided", .seconds = 2.9},
    Published{.kernels = "naive_coalesced", .seconds = 0.392},
    Published{.kernels = tiles, .seconds = 0.147},
    Published{.kernels = "cublas", .seconds = 0.020},
};

constexpr std::array report_figures{
    Published{.backend = "reference", .kernels = "gold", .seconds = 20},
    Published{.backend = "openmp", .kernels = "naive", .gain = 5},
    Published{.backend = "openmp", .kernels = "tiled_4x4", .gain = 14},
};

// The table of SGEMM_CUDA's README. Its kernel 9 is kernel 6 with tuned sizes, and 7 is another way to do what 8 does.
constexpr std::array sgemm_figures{
    Published{.kernels = "naive_strided", .gflops = 309},
    Published{.kernels = "naive_coalesced", .gflops = 1986.5},
    Published{.kernels = "shared_tile_32", .gflops = 2980.3},
    Published{.kernels = "tile_1d", .gflops = 8474.7},
    Published{.kernels = "tile_2d_register", .gflops = 15971.7},
    Published{.kernels = "float4", .gflops = 18237.3},
    Published{.kernels = "double_buffer", .gflops = 17278.3},
    Published{.kernels = "conflict_free", .gflops = 16459.2},
    Published{.kernels = "warp_tile", .gflops = 21779.3},
    Published{.kernels = "cublas", .gflops = 23249.6},
};

constexpr std::array walkthrough_figures{
    Published{.kernels = "occupancy*", .gflops = 650},
    Published{.kernels = "wmma_*", .gflops = 1000},
};

constexpr std::array pitch_figures{
    Published{.kernels = "naive_coalesced", .gain = 1, .words = "unpitched"},
    Published{.kernels = "pitched", .gain = 3, .words = "over 3 times"},
};

constexpr std::array all_presets{
    Preset{.name = "blog",
           .summary = "four CUDA kernels at n = 4096, beside the times of a GTX 1080",
           .source = "A CUDA matmul blog: times at n = 4096 on a GTX 1080.",
           .sizes = "4096",
           .kernels = "naive_strided,naive_coalesced,shared_tile_[13]*,cublas",
           .machine = "GTX 1080",
           .size = 4096,
           .published = blog_figures},
    Preset{.name = "course",
           .summary = "a CUDA course: products of n = 1000 to 1024 and Kahan's sums; with --op sum_of_squares its "
                      "reductions of 1048576 integers",
           .source = "A CUDA course. It found that cudaMallocPitch's rows made a product of n = 1000 over three times "
                     "as fast; its other figures are not at hand.",
           .sizes = "1000,1008,1016,1024",
           .kernels = "naive_flat,row_shared,shared_tile_zero_padded,pitched*,kahan*",
           .lengths = "1048576",
           .length_dtypes = "i32,f32"},
    Preset{
        .name = "pitch",
        .summary = "how the speed jumps with the length of a row: n = 1000 to 1024 without padding, on a GPU and on "
                   "the processor",
        .source =
            "A CUDA course found that a product of n = 1000 took a third of the time with rows from cudaMallocPitch; "
            "its GPU is not known. On a processor rows of 1024 are the slow ones: a column's elements are 4096 "
            "bytes apart and meet in the same sets of the caches.",
        .place = Place::Any,
        .jumps = true,
        .sizes = "1000,1008,1016,1024",
        .repeat = "3",
        .time_limit = "60",
        .ld_pad = "0",
        .kernels = "naive,transposed,cache_blocked,simd,naive_flat,naive_coalesced,pitched,cublas",
        .machine = "a GPU of the course",
        .size = 1000,
        .published = pitch_figures},
    Preset{
        .name = "report",
        .summary = "sizes 512 to 2560, f64 on the processor (f32 with --gpu), integers 1 to 100, ten runs, mean time",
        .source = "A course report: mean of ten runs in f64 on a Core i7-6700HQ; gold took 20 s at n = 1024.",
        .place = Place::Processor,
        .mean = true,
        .sizes = "512,1024,1536,2048,2560",
        .dtypes = "f64",
        .distribution = "integers:1:100",
        .repeat = "10",
        .time_limit = "60",
        .machine = "i7-6700HQ",
        .size = 1024,
        .published = report_figures},
    Preset{.name = "sgemm",
           .summary = "the rungs of an SGEMM repository at n = 4092, beside SGEMM_CUDA's table of an A6000",
           .source = "SGEMM_CUDA (github.com/siboehm/SGEMM_CUDA, README): speeds at n = 4092 on an NVIDIA A6000.",
           .sizes = "4092",
           .kernels = "naive_strided,naive_coalesced,shared_tile_32,tile_*,float4,double_buffer,conflict_free,z_order,"
                      "warp_tile,cublas",
           .machine = "A6000",
           .size = 4092,
           .published = sgemm_figures},
    Preset{.name = "walkthrough",
           .summary = "the rungs of a kernel walkthrough in seven levels, beside two of its speeds on a V100",
           .source = "A kernel walkthrough in seven levels: 5, 50, 300, 500, 650, 1000 and 7000 GFLOP/s on a V100. "
                     "Level 5 is about occupancy, level 6 uses tensor cores; the sizes are not at hand.",
           .sizes = "1024,2048,4096",
           .kernels =
               "naive_strided,naive_coalesced,shared_tile_[13]*,shared_tile_bank_padded,float4,occupancy*,wmma_*,"
               "warp_tile,async_copy,cublas",
           .machine = "V100",
           .published = walkthrough_figures},
};

} // namespace

std::span<const Preset> presets() { return all_presets; }

const Preset& find_preset(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : all_presets) names.emplace_back(preset.name);
  return all_presets[apps::choose("--preset", name, names)];
}

std::string text_of(const Published& figure) {
  if (figure.words != nullptr) return figure.words;
  if (figure.gflops > 0) return fmt::format("{:g} GFLOP/s", figure.gflops);
  if (figure.seconds >= 10) return fmt::format("{:g} s", figure.seconds);
  if (figure.seconds > 0) return fmt::format("{:g} ms", figure.seconds * 1e3);
  return fmt::format("≈ {:g} times", figure.gain);
}

std::vector<double> gains_of(const Preset& preset) {
  std::vector<double> gains;
  for (const Published& figure : preset.published) {
    const Published& first = preset.published.front();
    if (preset.size == 0) {
      gains.push_back(0);
      continue;
    }
    double gain = figure.gain;
    if (gain == 0 && figure.gflops > 0 && first.gflops > 0) gain = figure.gflops / first.gflops;
    if (gain == 0 && figure.seconds > 0 && first.seconds > 0) gain = first.seconds / figure.seconds;
    gains.push_back(gain);
  }
  return gains;
}

} // namespace tessera::compare_app
