#pragma once

/// Reads the JSON document of --json ("tessera.compare/1") entry by entry.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "entry.hpp"

namespace tessera::report {

using Json = nlohmann::ordered_json;

inline constexpr std::string_view schema = "tessera.compare/1";

/// The text is no document of this schema; what() says why.
class DocumentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The grade of a kernel that was run at several square sizes; docs/error_bounds.md says what it means.
struct Grade {
  Entry kernel; ///< only the columns that name a kernel are set
  std::string grade;
  double slope = unknown; ///< of log(error) over log(n)
  struct Size {
    double n = 0;
    double error = unknown; ///< largest |Δ| / (|A||B|), in units of the type's roundoff
    bool operator==(const Size&) const = default;
  };
  std::vector<Size> sizes; ///< ascending, each once
};

// NOLINTNEXTLINE(bugprone-exception-escape): moving a Json does not throw, but the library does not say so in code
struct Run {
  Json document; ///< the whole document
  std::vector<Entry> entries;
  std::vector<Grade> grades; ///< empty in documents that have none

  /// The machine's description; an empty object if the document has none.
  const Json& machine() const;
  /// The command that made the document, ready for a shell; empty if the document does not have it.
  std::string command() const;
  /// The backend computes in the host's memory.
  bool on_host(const std::string& backend) const;
  /// The place where the entry was computed: "processor", or the device's backend. Kernels from outside have one, too.
  std::string place(const Entry& entry) const;
  /// The kernel's name, with its number of threads where the run has several numbers.
  std::string label(const Entry& entry) const;
  /// The label and, unless it is strict or part of the kernel's name, the mode: what a chart of several modes writes.
  std::string label_with_mode(const Entry& entry) const;
};

/// A field's text; empty where there is none.
std::string text_at(const Json& object, const char* key);

/// Checks the schema and reads every entry. Throws DocumentError with the place and the reason.
Run read_run(Json document);
/// Reads a document from a file. Throws DocumentError with the file's name, the place and the reason.
Run load_run(const std::string& file);

} // namespace tessera::report
