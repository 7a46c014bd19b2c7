#include "progress.hpp"

#include <fstream>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tessera/backend/environment.hpp>

namespace tessera::lessons {
namespace {

namespace fs = std::filesystem;

fs::path state_file() {
  if (const char* state = trusted_variable("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return fs::path(state) / "tessera" / "lessons.json";
  if (const char* home = trusted_variable("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".local" / "state" / "tessera" / "lessons.json";
  return {};
}

} // namespace

Progress::Progress() : file_(state_file()) {
  std::ifstream stream(file_);
  if (file_.empty() || !stream) return;
  const nlohmann::json document = nlohmann::json::parse(stream, nullptr, false);
  if (!document.is_object()) {
    complaint_ = fmt::format("{} is not what this program wrote, and is not read; remove it to keep progress again",
                             file_.string());
    return;
  }
  for (const auto& [name, entry] : document.items()) {
    if (!entry.is_object()) continue;
    const auto take = [&](const char* key, auto& value) {
      if (const auto at = entry.find(key); at != entry.end()) {
        using T = std::remove_reference_t<decltype(value)>;
        if constexpr (std::is_same_v<T, bool>) {
          if (at->is_boolean()) value = at->template get<T>();
        } else if constexpr (std::is_arithmetic_v<T>) {
          if (at->is_number()) value = at->template get<T>();
        } else if (at->is_string()) {
          value = at->template get<T>();
        }
      }
    };
    Done& done = lessons_[name];
    take("passed", done.passed);
    take("share", done.share);
    take("tries", done.tries);
    take("folder", done.folder);
  }
}

const Done& Progress::of(const std::string& lesson) const {
  static const Done nothing;
  const auto at = lessons_.find(lesson);
  return at == lessons_.end() ? nothing : at->second;
}

std::string Progress::save() const {
  if (!complaint_.empty()) return complaint_;
  if (file_.empty()) return "progress is not kept: neither XDG_STATE_HOME nor HOME names a folder";
  nlohmann::json document = nlohmann::json::object();
  for (const auto& [name, done] : lessons_)
    document[name] = {{"passed", done.passed}, {"share", done.share}, {"tries", done.tries}, {"folder", done.folder}};
  std::error_code error;
  fs::create_directories(file_.parent_path(), error);
  const fs::path fresh = file_.string() + ".new";
  std::ofstream stream(fresh);
  stream << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  stream.close();
  if (stream) fs::rename(fresh, file_, error);
  if (!stream || error)
    return fmt::format("progress is not kept: {} cannot be written; let XDG_STATE_HOME name a folder that can",
                       file_.string());
  return {};
}

} // namespace tessera::lessons
