#pragma once

/// The folder of a lesson: the task, and the file that the learner edits.

#include <filesystem>
#include <string>

#include "catalogue.hpp"

namespace tessera::lessons {

struct Folder {
  std::filesystem::path path; ///< the lesson's folder
  std::filesystem::path file; ///< the file to edit
  bool is_new = false;        ///< the file was made now
};

/// Makes the folder `parent`/LESSON with task.md and the rung before. A file that is there stays as it is. Throws
/// IoError with a sentence if the folder cannot be made.
Folder make_folder(const Lesson& lesson, const std::filesystem::path& parent);

/// Returns the lesson's task.
std::string task_of(const Lesson& lesson);

/// Returns the course's page of the rung that stands in the file at first, or of the one that comes before it.
std::filesystem::path page_of(const Lesson& lesson);

/// Returns the folder of the headers that the file may include, below the root of the sources.
std::filesystem::path headers_of(const Lesson& lesson);

} // namespace tessera::lessons
