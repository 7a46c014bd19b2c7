#include "rewrite.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "tokens.hpp"

namespace tessera::lens {
namespace {

/// The tokens and what replaces them. A position is a token's number.
class Rewriter {
 public:
  Rewriter(std::string_view text, std::string_view rung) : tokens_(tokens_of(text)), out_(tokens_.size()), rung_(rung) {
    for (std::size_t at = 0; at < tokens_.size(); ++at) out_[at] = tokens_[at].text;
  }

  std::string run() {
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::Directive) unroll(at);
      if (token.system || token.kind == TokenKind::Space || token.kind == TokenKind::Directive) continue;
      if (token.is("__shared__")) shared(at);
      if (token.is("asm") || token.is("__asm__") || token.is("__asm")) assembly(at);
      if (token.is("__noinline__")) no_inline(at);
      if (token.is("GemmKernel") && !rung_.empty()) other_rung(at);
      if (is_triple(at, '<')) launch(at);
    }
    std::string all;
    for (const std::string& text : out_) all += text;
    return all;
  }

 private:
  using At = std::size_t;
  static constexpr At none = static_cast<At>(-1);

  bool is_blank(At at) const {
    return tokens_[at].kind == TokenKind::Space || tokens_[at].kind == TokenKind::Directive;
  }
  /// Returns the next token that is no space, from `at` on.
  At forward(At at) const {
    while (at < tokens_.size() && is_blank(at)) ++at;
    return at;
  }
  At backward(At at) const {
    while (at != none && is_blank(at)) --at;
    return at;
  }
  bool is_triple(At at, char mark) const {
    for (At one = at; one < at + 3; ++one)
      if (one >= tokens_.size() || tokens_[one].kind != TokenKind::Mark || tokens_[one].text[0] != mark) return false;
    return true;
  }
  static int nesting(const Token& token) {
    if (token.kind != TokenKind::Mark) return 0;
    if (token.is("(") || token.is("[") || token.is("{")) return 1;
    return token.is(")") || token.is("]") || token.is("}") ? -1 : 0;
  }
  /// Returns the bracket that closes the one at `at`, or opens it if `at` closes.
  At partner(At at) const {
    const int step = nesting(tokens_[at]);
    int depth = 0;
    for (At one = at; one<tokens_.size(); step> 0 ? ++one : --one) {
      depth += nesting(tokens_[one]);
      if (depth == 0) return one;
    }
    refuse(at, "a bracket has no partner");
  }
  [[noreturn]] void refuse(At at, const char* why) const {
    throw InvalidArgument(fmt::format("--lens: line {}: {}", tokens_[at].line, why));
  }
  std::string join(At begin, At end) const {
    std::string all;
    for (At at = begin; at < end; ++at) all += out_[at];
    return all;
  }
  /// Replaces the tokens by a text. Ends of lines stay, so that the lines after it keep their numbers.
  void replace(At begin, At end, std::string text) {
    const auto lines_of = [](const std::string& in) { return std::count(in.begin(), in.end(), '\n'); };
    const auto before = lines_of(join(begin, end)), after = lines_of(text);
    for (At at = begin; at < end; ++at) out_[at].clear();
    if (before > after) text.append(static_cast<std::size_t>(before - after), '\n');
    out_[begin] = std::move(text);
  }

  /// Returns where the name of the kernel begins that ends before `end`: `a::b<c>`, `(*f)`.
  At begin_of_callee(At end) const {
    At at = backward(end - 1);
    for (;;) {
      if (at == none) return 0;
      if (tokens_[at].is(">")) {
        int depth = 0;
        for (; at != none; --at) {
          if (tokens_[at].is(")") || tokens_[at].is("]") || tokens_[at].is("}")) at = partner(at);
          if (tokens_[at].is(">")) ++depth;
          if (tokens_[at].is("<") && --depth == 0) break;
        }
        if (at == none) refuse(end, "the launch's kernel has no name");
        at = backward(at - 1);
      } else if (tokens_[at].is(")") || tokens_[at].is("]")) {
        at = partner(at);
        if (tokens_[at].is("(")) return at;
        at = backward(at - 1);
        continue;
      }
      if (at == none || tokens_[at].kind != TokenKind::Word) refuse(end, "the launch's kernel has no name");
      const At before = at == 0 ? none : backward(at - 1);
      if (before == none || before == 0) return at;
      if (tokens_[before].is("template")) {
        at = before;
        continue;
      }
      if (!(tokens_[before].is(":") && tokens_[before - 1].is(":")) && !tokens_[before].is(".")) return at;
      const At scope = backward(tokens_[before].is(".") ? before - 1 : before - 2);
      if (scope == none || (tokens_[scope].kind != TokenKind::Word && !tokens_[scope].is(">")))
        return tokens_[before].is(".") ? before : before - 1;
      if (tokens_[scope].is("return")) return before - 1;
      at = scope;
    }
  }

  /// The name for the report: the last word of the kernel's, without arguments of templates.
  std::string short_name(At begin, At end) const {
    std::string name = "kernel";
    int depth = 0;
    for (At at = begin; at < end; ++at) {
      if (tokens_[at].is("(") && depth > 0) at = partner(at);
      if (tokens_[at].is("<")) ++depth;
      if (tokens_[at].is(">")) --depth;
      if (depth == 0 && tokens_[at].kind == TokenKind::Word) name = tokens_[at].text;
    }
    return name;
  }

  void launch(At at) {
    const At callee = begin_of_callee(at);
    At close = at + 3;
    for (int depth = 0;; ++close) {
      if (close >= tokens_.size() || (depth == 0 && tokens_[close].is(";"))) refuse(at, "the launch's <<< has no >>>");
      depth += nesting(tokens_[close]);
      if (depth == 0 && is_triple(close, '>')) {
        const At next = forward(close + 3);
        if (next < tokens_.size() && tokens_[next].is("(")) break;
      }
    }
    const At open = forward(close + 3), end = partner(open);
    const std::string arguments = join(open + 1, end);
    const bool has_arguments = forward(open + 1) != end;
    const std::string text = fmt::format(
        "::tessera::lens::Launcher(\"{}\", {}, {}).run([&](auto&... tessera_lens_arguments) {{ "
        "{}(tessera_lens_arguments...); }}{}{})",
        short_name(callee, at), tokens_[at].line, join(at + 3, close), join(callee, at), has_arguments ? ", " : "",
        arguments);
    replace(callee, end + 1, text);
  }

  bool is_specifier(At at) const {
    return tokens_[at].is("extern") || tokens_[at].is("static") || tokens_[at].is("volatile") ||
           tokens_[at].is("__volatile__");
  }
  /// Returns where the declaration begins that `__shared__` at `at` is a part of.
  At begin_of_declaration(At at) const {
    At begin = at;
    for (At before = backward(at - 1); before != none; before = backward(before - 1)) {
      if (tokens_[before].is(")")) {
        const At open = partner(before);
        const At word = backward(open - 1);
        if (!tokens_[word].is("alignas") && !tokens_[word].is("__attribute__")) break;
        before = word;
      } else if (!is_specifier(before)) {
        break;
      }
      begin = before;
    }
    return begin;
  }

  /// Declares one variable: its type, its name and its extents.
  std::string declare(const std::string& type, const std::string& declarator, const std::string& name) {
    const std::string number = std::to_string(++objects_);
    return fmt::format(
        "struct tessera_lens_shared_{0} {{ {1} {2}; }}; alignas(1024) static unsigned char "
        "tessera_lens_object_{0}[sizeof(tessera_lens_shared_{0}) + 2 * ::tessera::lens::guard_bytes]; "
        "auto& {3} = reinterpret_cast<tessera_lens_shared_{0}*>(tessera_lens_object_{0} + "
        "::tessera::lens::guard_bytes)->{3}; ::tessera::lens::declare_shared("
        "const_cast<void*>(static_cast<const volatile void*>(&{3})), sizeof({3}), \"{3}\");",
        number, type, declarator, name);
  }

  void shared(At at) {
    const At begin = begin_of_declaration(at);
    At end = at;
    for (int depth = 0; end < tokens_.size() && !(depth == 0 && tokens_[end].is(";")); ++end)
      depth += nesting(tokens_[end]);
    if (end >= tokens_.size()) refuse(at, "the variable of shared memory has no ;");
    bool is_extern = false;
    for (At one = begin; one < end; ++one) {
      is_extern |= tokens_[one].is("extern");
      if (tokens_[one].is("extern") || tokens_[one].is("static") || tokens_[one].is("__shared__")) out_[one].clear();
    }
    // The first name is the last word before an extent, a comma or the end, outside of <…>.
    At name = none, stop = begin;
    for (int depth = 0, angle = 0; stop <= end; ++stop) {
      const Token& token = tokens_[stop];
      if (depth == 0 && angle == 0 && (token.is("[") || token.is(",") || stop == end || token.is("="))) break;
      if (depth == 0 && token.is("<")) ++angle;
      if (depth == 0 && token.is(">")) --angle;
      if (depth == 0 && angle == 0 && token.kind == TokenKind::Word) name = stop;
      depth += nesting(token);
    }
    if (name == none) refuse(at, "the variable of shared memory has no name");
    const std::string type = join(begin, name);
    std::string text;
    for (At first = name;;) {
      At last = first;
      for (int depth = 0; last < end && !(depth == 0 && tokens_[last].is(",")); ++last) depth += nesting(tokens_[last]);
      const std::string called(tokens_[first].text);
      if (is_extern) {
        const std::string plain = without_alignment(begin, name);
        text += fmt::format("{0}* const {1} = reinterpret_cast<{0}*>(::tessera_lens_dynamic_shared);", plain, called);
      } else {
        text += declare(type, join(first, last), called);
      }
      if (last >= end) break;
      first = forward(last + 1);
      if (tokens_[first].kind != TokenKind::Word) refuse(at, "pointers in shared memory take a declaration each");
    }
    replace(begin, end + 1, text);
  }

  /// The tokens without alignas(…) and __attribute__((…)).
  std::string without_alignment(At begin, At end) const {
    std::string all;
    for (At at = begin; at < end; ++at) {
      if (tokens_[at].is("alignas") || tokens_[at].is("__attribute__"))
        at = partner(forward(at + 1));
      else
        all += out_[at];
    }
    return all;
  }

  /// Does asm("…") follow a function's declaration, and give its symbol a name?
  bool names_symbol(At at) const {
    const At before = at == 0 ? none : backward(at - 1);
    if (before == none || !tokens_[before].is(")")) return false;
    const At word = backward(partner(before) - 1);
    return word == none || !(tokens_[word].is("if") || tokens_[word].is("for") || tokens_[word].is("while"));
  }

  void assembly(At at) {
    At open = forward(at + 1);
    while (open < tokens_.size() && tokens_[open].kind == TokenKind::Word) open = forward(open + 1);
    if (open >= tokens_.size() || !tokens_[open].is("(")) return;
    const At close = partner(open), end = forward(close + 1);
    if (end >= tokens_.size() || !tokens_[end].is(";") || names_symbol(at)) return;
    std::string code;
    for (At one = open + 1; one < close && !tokens_[one].is(":"); ++one)
      if (tokens_[one].kind == TokenKind::Literal) code += std::string(out_[one]);
    const bool empty = code.find_first_not_of("\"") == std::string::npos;
    replace(at, close + 1, empty ? "((void)0)" : "::tessera::lens::unsupported(" + code + ")");
  }

  /// Gives nvcc's `#pragma unroll` GCC's words. GCC unrolls a loop whose length is a constant before it looks at the
  /// accesses, so that what nvcc then keeps in registers is one access here, too.
  void unroll(At at) {
    const std::string_view text = tokens_[at].text;
    constexpr std::string_view begin = "#pragma unroll";
    if (text.substr(0, begin.size()) != begin) return;
    const At next = forward(at + 1);
    const bool loop =
        next < tokens_.size() && (tokens_[next].is("for") || tokens_[next].is("while") || tokens_[next].is("do"));
    std::string number;
    for (const char c : text.substr(begin.size()))
      if (c != ' ' && c != '(' && c != ')' && c != '\t') number += c;
    const bool plain = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
    out_[at] = loop ? "#pragma GCC unroll " + (plain ? number : "1024") : "";
  }

  void other_rung(At at) {
    const At name = forward(at + 1), begin = backward(at - 1);
    if (name >= tokens_.size() || begin == none || !tokens_[begin].is("const") || tokens_[name].is(rung_)) return;
    const At equals = forward(name + 1), before = begin == 0 ? none : backward(begin - 1);
    if (!tokens_[equals].is("=") || (before != none && !tokens_[before].is(";") && !tokens_[before].is("}"))) return;
    At end = equals;
    for (int depth = 0; end < tokens_.size() && !(depth == 0 && tokens_[end].is(";")); ++end)
      depth += nesting(tokens_[end]);
    if (end < tokens_.size()) replace(begin, end + 1, "");
  }

  void no_inline(At at) {
    const At before = backward(at - 1);
    if (before == none || (!tokens_[before].is("(") && !tokens_[before].is(",")))
      out_[at] = "__attribute__((noinline))";
  }

  std::vector<Token> tokens_;
  std::vector<std::string> out_;
  std::string_view rung_;
  int objects_ = 0;
};

} // namespace

std::string rewrite(std::string_view preprocessed, std::string_view rung) { return Rewriter(preprocessed, rung).run(); }

} // namespace tessera::lens
