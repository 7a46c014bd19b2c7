#include "places.hpp"

#include <sys/wait.h>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "gemm_judge/processes/child_process.hpp"

namespace tessera::lens {
namespace {

namespace fs = std::filesystem;

struct Frame {
  std::string function, file;
  int line = 0;
};

/// Reads "file:12 (discriminator 3)".
Frame frame_of(const std::string& function, const std::string& place) {
  Frame frame{function, place, 0};
  const std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return frame;
  frame.file = fs::path(place.substr(0, colon)).lexically_normal();
  frame.line = std::atoi(place.c_str() + colon + 1);
  return frame;
}

/// "void ns::f<float, 8>(float const*)" becomes "f".
std::string short_name(std::string name) {
  int depth = 0;
  std::string kept;
  for (const char c : name) {
    if (c == '(' && depth == 0 && !kept.empty() && kept.back() != ' ') break;
    if (c == '<') ++depth;
    if (depth == 0) kept += c;
    if (c == '>') --depth;
  }
  kept = kept.substr(0, kept.find('('));
  const std::size_t scope = kept.rfind("::"), space = kept.rfind(' ');
  if (scope != std::string::npos) return kept.substr(scope + 2);
  return space != std::string::npos ? kept.substr(space + 1) : kept;
}

bool begins_with(const std::string& text, const std::string& begin) {
  return text.compare(0, begin.size(), begin) == 0;
}

Place place_of(const std::vector<Frame>& frames, const std::string& kernel, const std::string& headers) {
  const auto is_foreign = [&](const Frame& frame) {
    return begins_with(frame.file, headers) || begins_with(frame.file, "/usr/") || frame.line == 0;
  };
  // The last frames are the caller's, where they are inlined: the lens and the standard library, called at the launch.
  auto end = frames.end();
  while (end != frames.begin() && is_foreign(end[-1])) --end;
  if (end != frames.end() && end - frames.begin() > 1 && begins_with(end[-1].function, "operator()")) --end;
  Place place;
  for (auto frame = frames.begin(); frame != end; ++frame) {
    if (place.line == 0 && !is_foreign(*frame)) {
      place.file = frame->file;
      place.line = frame->line;
      place.function = short_name(frame->function);
    }
    if (frame->file == kernel) place.kernel_line = frame->line; // the outermost one stays
  }
  if (place.line == 0 && !frames.empty()) place.function = short_name(frames.back().function);
  return place;
}

} // namespace

std::map<std::uint32_t, Place> find_places(const fs::path& program, const std::set<std::uint32_t>& pcs,
                                           const fs::path& kernel, const Folders& folders) {
  std::map<std::uint32_t, Place> places;
  if (pcs.empty()) return places;
  const fs::path list = program.parent_path() / "addresses", answer = program.parent_path() / "places";
  {
    std::ofstream out(list);
    for (const std::uint32_t pc : pcs) out << fmt::format("{:#x}\n", pc - 1); // inside the call
  }
  judge::ChildProcess child({"/bin/sh", "-c", "exec addr2line -e \"$1\" -i -f -C -a @\"$2\" > \"$3\"", "sh",
                             program.string(), list.string(), answer.string()},
                            {});
  child.wait(-1, judge::Clock::now() + std::chrono::minutes(1));
  const int status = child.end(std::chrono::milliseconds(0));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw IoError("--lens: addr2line failed, which finds the lines of instructions; install binutils. It said: " +
                  child.output());
  const std::string headers = fs::weakly_canonical(folders.headers).string();
  std::ifstream in(answer);
  auto pc = pcs.begin();
  std::vector<Frame> frames;
  const auto finish = [&] {
    if (!frames.empty() && pc != pcs.end()) places[*pc++] = place_of(frames, kernel.string(), headers);
    frames.clear();
  };
  for (std::string line, place; std::getline(in, line);) {
    if (begins_with(line, "0x")) {
      finish();
    } else if (std::getline(in, place)) {
      frames.push_back(frame_of(line, place));
    }
  }
  finish();
  return places;
}

} // namespace tessera::lens
