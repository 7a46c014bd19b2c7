#include "chromium.hpp"

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>

#include "report/shell.hpp"

namespace tessera::report::testing {
namespace {

namespace fs = std::filesystem;

/// A folder for a profile and a page. It is removed with the object.
class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "tessera_report_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored; // The browser's last processes may still write.
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

} // namespace

std::optional<std::string> find_chromium() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (const fs::path program = fs::path(folder) / name; access(program.c_str(), X_OK) == 0) return program.string();
  return std::nullopt;
}

Visit visit(const std::string& chromium, const std::string& page, const std::vector<std::string>& options) {
  const Folder folder;
  std::ofstream(folder / "page.html") << page;
  std::string words;
  for (const std::string& option : options) words += shell_quoted(option) + " ";
  const auto in_folder = [&](const char* name) { return shell_quoted((folder / name).string()); };
  const std::string command = fmt::format(
      "timeout 60 {} --headless --no-sandbox --disable-gpu --no-first-run --enable-logging=stderr --dump-dom "
      "--user-data-dir={} {} {} >{} 2>{} </dev/null",
      shell_quoted(chromium), in_folder("profile"), words, in_folder("page.html"), in_folder("dom"), in_folder("log"));
  Visit result;
  const int status = std::system(command.c_str());
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.dom = content(folder / "dom");
  std::istringstream log(content(folder / "log"));
  for (std::string line; std::getline(log, line);)
    if (line.find("CONSOLE") != std::string::npos) result.console += line + "\n";
  return result;
}

} // namespace tessera::report::testing
