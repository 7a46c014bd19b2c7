#pragma once

/// Expects exceptions whose text has certain parts, because the reader of the text must learn what was wrong.

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include <boost/test/unit_test.hpp>

namespace tessera::test {

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Calls `action`, which has to throw an Expected whose what() contains every part.
template <class Expected, class Action>
void expect_error(Action action, std::initializer_list<std::string_view> parts) {
  try {
    action();
  } catch (const Expected& error) {
    for (const std::string_view part : parts)
      BOOST_TEST(contains(error.what(), part), "'" << error.what() << "' lacks '" << part << "'");
    return;
  } catch (const std::exception& error) {
    BOOST_ERROR("another exception was thrown: " << error.what());
    return;
  }
  BOOST_ERROR("nothing was thrown");
}

/// Sets or unsets an environment variable while it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) {
      old_ = old;
      was_set_ = true;
    }
    set(value);
  }
  ~Environment() { set(was_set_ ? old_.c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  void set(const char* value) { value ? setenv(name_, value, 1) : unsetenv(name_); }

  const char* name_;
  std::string old_;
  bool was_set_ = false;
};

} // namespace tessera::test
