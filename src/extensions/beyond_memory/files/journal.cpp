#include "journal.hpp"

#include <algorithm>
#include <charconv>

#include <tessera/status.hpp>

namespace tessera::files {
namespace {

constexpr std::string_view first_line = "tessera product 1";
constexpr std::string_view done_word = "done ";

} // namespace

Recorded parse_journal(std::string_view text) {
  Recorded recorded;
  bool first = true;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    const std::string_view line = text.substr(begin, end - begin);
    recorded.bytes = end + 1;
    if (std::exchange(first, false)) {
      if (line != first_line)
        throw InvalidArgument("its first line is '" + std::string(line.substr(0, 60)) + "', not '" +
                              std::string(first_line) + "'");
    } else if (line.starts_with(done_word)) {
      Index number = -1;
      const std::string_view digits = line.substr(done_word.size());
      const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error != std::errc{} || stop != digits.data() + digits.size() || number < 0)
        throw InvalidArgument("'" + std::string(line.substr(0, 60)) + "' names no block");
      recorded.done.push_back(number);
    } else if (const std::size_t colon = line.find(": "); colon != std::string_view::npos) {
      recorded.facts.emplace_back(line.substr(0, colon), line.substr(colon + 2));
    } else {
      throw InvalidArgument("it has the line '" + std::string(line.substr(0, 60)) + "'");
    }
  }
  if (first) throw InvalidArgument("it is empty");
  return recorded;
}

std::string journal_of(const Facts& facts) {
  std::string text(first_line);
  text += '\n';
  for (const auto& [name, value] : facts) text.append(name).append(": ").append(value).append("\n");
  return text;
}

std::string_view value_of(const Facts& facts, std::string_view name) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == name; });
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

std::string difference(const Facts& recorded, const Facts& now, std::span<const std::string_view> free) {
  const auto told = [](std::string_view value) { return value.empty() ? std::string("nothing") : std::string(value); };
  for (const auto& [name, value] : now) {
    const std::string_view before = value_of(recorded, name);
    if (before != value && std::find(free.begin(), free.end(), name) == free.end())
      return name + " was " + told(before) + " when the product began and is " + told(value) + " now";
  }
  return {};
}

} // namespace tessera::files
