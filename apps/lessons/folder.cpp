#include "folder.hpp"

#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "build.hpp"
#include "starter.hpp"

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

std::string text_of_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw IoError(fmt::format("{} cannot be read", path.string()));
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream)
    throw IoError(fmt::format("{} cannot be written; go to a folder of yours, or name one with --in", path.string()));
}

} // namespace

std::string task_of(const Lesson& lesson) {
  return text_of_file(source_root() / "apps" / "lessons" / "tasks" / (std::string(lesson.name) + ".md"));
}

fs::path page_of(const Lesson& lesson) {
  const fs::path pages = source_root() / "docs" / "ladder";
  if (lesson.page != nullptr) return pages / "factors" / (std::string(lesson.page) + ".md");
  const char* ladder = lesson.machine == Machine::Gpu ? "cuda" : "cpu";
  return pages / ladder / (fs::path(lesson.before_file).stem().string() + ".md");
}

fs::path headers_of(const Lesson& lesson) {
  return lesson.work == Work::Product ? fs::path("backends") : fs::path(lesson.rung_file).parent_path();
}

Folder make_folder(const Lesson& lesson, const fs::path& parent) {
  Folder folder{.path = parent / lesson.name, .file = {}, .is_new = false};
  folder.file = folder.path / file_name(lesson);
  std::error_code error;
  if (fs::exists(folder.path, error) && !fs::is_directory(folder.path, error))
    throw IoError(fmt::format("{} is there and is no folder; move it away, or name another place with --in",
                              folder.path.string()));
  fs::create_directories(folder.path, error);
  if (error)
    throw IoError(fmt::format("{} cannot be made ({}); go to a folder of yours, or name one with --in",
                              folder.path.string(), error.message()));
  if (!fs::exists(folder.path / "task.md", error)) write_file(folder.path / "task.md", task_of(lesson));
  folder.is_new = !fs::exists(folder.file, error);
  if (folder.is_new) write_file(folder.file, starting_text(lesson, text_of_file(source_root() / lesson.before_file)));
  return folder;
}

} // namespace tessera::lessons
