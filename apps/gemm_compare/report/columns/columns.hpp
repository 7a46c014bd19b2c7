#pragma once

/// The columns of a result: one list for the table on the terminal, CSV, JSON (written and read), Markdown, the page
/// and --help. A new column of numbers is one element of the list in columns.cpp and the code that computes it: a line
/// of error_numbers (<tessera/checking/compare.hpp>) for an error, else a set_number() where the race measures it.

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "report/document.hpp"

namespace tessera::report {

/// Describes how a value is printed. Each report has its own text for each kind.
enum class Print {
  Word,
  Backend,
  Kernel,
  Verdict,
  Bar,     ///< of the speed, beside the fastest entry's
  Result,  ///< C's type: the operands' where the entry names none
  Product, ///< the shape and what differs from a plain product
  Plain,   ///< a number as it is
  Threads,
  Time,
  Spread,
  Speed,
  Bandwidth,
  Percent,
  Factor,
  Error,
  Units, ///< in units of the type's roundoff
  Bound, ///< error ÷ bound
  Count,
};

/// Where one report shows a column.
struct Shown {
  const char* heading = nullptr; ///< null: the report leaves the column out
  int order = 0;                 ///< columns stand in ascending order
  int priority = 0;              ///< on the terminal: 0 always stays; the others fit in from 1 on, as the width allows
};

/// The number that Facts::numbers has under the column's name.
struct Stored {
  bool operator==(const Stored&) const = default;
};

/// A stored number or a member of Entry, which is written to JSON and read from there, or a number that follows from
/// several members.
using Value = std::variant<Stored, std::string Entry::*, bool Entry::*, int Entry::*, std::int64_t Entry::*,
                           double Entry::*, double (*)(const Entry&)>;

struct Column {
  const char* name; ///< is unique
  const char* key;  ///< in the JSON of a result, "error/max_rel" for a member of an object; empty: not in JSON
  Value value = Stored{};
  Print print;
  const char* unit;     ///< of the number in JSON and CSV; empty if it has none
  const char* explains; ///< for --help and for the page's headings
  Shown table = {};     ///< on the terminal
  Shown csv = {};
  Shown markdown = {};
  Shown page = {};
  bool identifies = false;   ///< --diff compares entries that agree in all these
  bool names_kernel = false; ///< it stands where a document names a kernel without its product, in the grades
  bool optional = false;     ///< JSON leaves it out, rather than null or "", where it is unknown;
                             ///< the page and Markdown leave a column of numbers out that no entry has
};

/// Every column, in the order of their keys in JSON.
std::span<const Column> columns();

/// The columns that a report shows, from left to right: shown_in(&Column::table).
std::vector<const Column*> shown_in(Shown Column::*report);

/// Returns the column of this name, or null.
const Column* find_column(std::string_view name);

/// The value of a column of numbers or flags as a number; unknown for a column of words.
double number_of(const Column& column, const Entry& entry);
/// The entry has no number in this column.
bool lacks(const Column& column, const Entry& entry);
/// The column has numbers, which are aligned to the right.
bool is_number(const Column& column);
/// The value with all its digits, for CSV: empty if unknown. Not quoted.
std::string exact_text(const Column& column, const Entry& entry);
/// The value as people read it in Markdown and on the page.
std::string short_text(const Column& column, const Entry& entry);

/// Sets the number of a column that stores it. Throws std::logic_error if there is no such column.
void set_number(Facts& facts, std::string_view column, double number);
/// Sets the number of the column of this name, be it stored or a member. Throws std::logic_error if no column of
/// numbers has this name.
void set_number(Entry& entry, std::string_view column, double number);

/// A result's JSON, from every column that has a key.
Json columns_json(const Entry& entry);
/// Reads every column that has a key. Throws DocumentError if a value has the wrong type.
void read_columns(const Json& result, Entry& entry);

/// The JSON that says which kernel an entry is of, and reads it: the columns that name a kernel, without its product.
Json kernel_json(const Entry& entry);
void read_kernel(const Json& object, Entry& entry);

} // namespace tessera::report
