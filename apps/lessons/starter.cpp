#include "starter.hpp"

#include <cctype>
#include <sstream>
#include <vector>

#include <fmt/format.h>

namespace tessera::lessons {
namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool is_part_of_word(char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; }

/// Replaces a name where it is no part of a longer one; '_' joins words.
std::string renamed(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at)) {
    const bool begins = at == 0 || !(is_part_of_word(text[at - 1]) || text[at - 1] == '_');
    const std::size_t end = at + from.size();
    const bool ends = end == text.size() || !(is_part_of_word(text[end]) || text[end] == '_');
    if (begins && ends) text.replace(at, from.size(), to);
    at += begins && ends ? to.size() : from.size();
  }
  return text;
}

/// Does the line declare or launch a kernel of a GPU? Only these hold a rung's name as a name of the code: elsewhere
/// the word may be another name, or prose.
bool names_kernel(const std::string& line) {
  return line.find("__global__") != std::string::npos || line.find("<<<") != std::string::npos;
}

/// A kernel with the name of one of CUDA's vectors would hide that type from the learner.
bool is_type_of_cuda(std::string_view name) { return name == "float4"; }

/// Is it a line that only the ladder needs?
bool is_of_ladder(const std::string& line) {
  return line.starts_with("const GemmKernel ") ||
         (line.starts_with("#include") &&
          (line.find("traffic") != std::string::npos || line.find("/ladder.hpp") != std::string::npos));
}

/// Returns the last line of a definition of the ladder: of a constant, or of a function that makes one.
std::size_t end_of_entry(const std::vector<std::string>& lines, std::size_t at) {
  const bool is_function = lines[at].ends_with(") {");
  while (at + 1 < lines.size() && (is_function ? lines[at] != "}" : !lines[at].ends_with(";"))) ++at;
  return at;
}

} // namespace

std::string starting_text(const Lesson& lesson, std::string_view text_of_rung_before) {
  const std::vector<std::string> lines = lines_of(text_of_rung_before);
  std::size_t at = 0;
  while (at < lines.size() && (lines[at].starts_with("///") || lines[at].empty())) ++at;
  std::string text = fmt::format(
      "// Lesson {}: {}. Here stands the rung before it, {}; task.md says what to change.\n"
      "// Mark it with: ./tessera learn {} --check\n\n",
      lesson.name, lesson.rung, lesson.before, lesson.name);
  bool was_empty = true;
  for (; at < lines.size(); ++at) {
    const std::string& line = lines[at];
    if (is_of_ladder(line)) continue;
    if (line.starts_with("template <") && at + 1 < lines.size() && lines[at + 1].starts_with("constexpr GemmKernel ")) {
      at = end_of_entry(lines, at + 1);
      continue;
    }
    if (line.empty() && was_empty) continue;
    was_empty = line.empty();
    const bool takes_name = names_kernel(line) && !is_type_of_cuda(lesson.rung);
    text += (takes_name ? renamed(line, lesson.before, lesson.rung) : line) + "\n";
  }
  return text;
}

} // namespace tessera::lessons
