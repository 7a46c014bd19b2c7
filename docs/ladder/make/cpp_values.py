"""Values of constants and expressions of C++ sources, as far as the rungs of the ladders need them.

An expression is rewritten as Python's and evaluated: integers, template constants without their arguments, members of
structures, the ternary operator, and functions that return a Place. Elements are f32 unless a Scope is told otherwise.
"""

import re
import types


class NoValue(Exception):
    """An expression that this module cannot evaluate."""


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def split_top(text, separator):
    """Splits at a separator outside parentheses and braces."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if depth == 0 and text.startswith(separator, at):
            parts.append(text[start:at])
            start = at + len(separator)
    return parts + [text[start:]]


def as_python(expression):
    """The expression in Python's words."""
    text = " ".join(expression.split())
    text = re.sub(r"\bstatic_cast<[^<>]*>", "", text)
    text = re.sub(r"\b(?:Index|int|unsigned){(\w+)}", r"\1", text)
    while (bare := re.sub(r"(?<=\w)<[^<>()=]*>", "", text)) != text:
        text = bare
    condition = split_top(text, " ? ")
    if len(condition) > 1:
        choice, rest = condition[0], " ? ".join(condition[1:])
        yes, no = split_top(rest, " : ")[0], " : ".join(split_top(rest, " : ")[1:])
        return f"(({as_python(yes)}) if ({as_python(choice)}) else ({as_python(no)}))"
    text = text.replace("::", ".").replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    text = re.sub(r"(?<!/)/(?!/)", "//", text)
    return re.sub(r"\b(\d+)[uUlL]+\b", r"\1", text)


class Scope:
    """Names and their values. `texts` are sources, the rung's first; a name that is not known is looked up in them."""

    def __init__(self, texts, element=4, **known):
        self.texts = [without_comments(text) for text in texts]
        self.known = {"T": element, "sizeof": lambda size: size, "float": 4, "double": 8,
                      "Vector": types.SimpleNamespace(width=16 // element), "canonical_segment": 1024,
                      "Lanes": types.SimpleNamespace(Rows=0, ZCurve=1), **known}
        self.busy = set()
        self.missing = set()

    def __getitem__(self, name):
        if name in self.known:
            return self.known[name]
        if name in self.busy or name in self.missing:
            raise KeyError(name)
        self.busy.add(name)
        try:
            self.known[name] = self.look_up(name)
        except (KeyError, NoValue):
            self.missing.add(name)
            raise
        finally:
            self.busy.discard(name)
        return self.known[name]

    def __contains__(self, name):
        try:
            self[name]
        except (KeyError, NoValue):
            return False
        return True

    def look_up(self, name):
        """Finds a name's definition in the texts and evaluates it."""
        for text in self.texts:
            if match := re.search(rf"\bconstexpr (?:int|Index|unsigned|std::size_t) (?:[^;]*?, )?{name} ?= ?([^;,]+(?:\([^;]*\))?[^;,]*)[;,]", text):
                return self.value(match[1])
            if match := re.search(rf"\b(?:constexpr|inline) Place {name}\(int (\w+)(?:, int (\w+))?\) {{\s*return {{([^}}]*)}};", text):
                return self.place_function(match)
            if match := re.search(rf"\bconstexpr int {name}\(int (\w+)\) {{\s*return ([^;]*);", text):
                return lambda value, match=match: self.value(match[2], **{match[1]: value})
            if match := re.search(rf"\busing {name} = ([^;]*);", text):
                return self.alias(match[1])
            if re.search(rf"template <class T>\s*struct {name} {{", text):
                return self.structure("", name, "T")
            if re.search(rf"^namespace [\w:]*\b{name} {{", text, re.M):
                return Members(Scope([text, *self.texts], self.known["T"]))
        raise KeyError(name)

    def alias(self, written):
        """What a `using` names: a structure template with its arguments, or the one that a condition chooses."""
        if match := re.fullmatch(r"std::conditional_t<(.*)>", " ".join(written.split())):
            condition, yes, no = split_top(match[1].replace("<T>", ""), ",")
            return self.alias(yes.strip() if self.value(condition) else no.strip())
        match = re.fullmatch(r"(\w+::)?(\w+)(?:<(.*)>)?", written.strip())
        if not match:
            raise KeyError(written)
        return self.structure((match[1] or "").rstrip(":"), match[2], match[3] or "")

    def place_function(self, match):
        first, second, body = match[1], match[2], match[3]
        down, across = split_top(body, ",")

        def place(one, two=None):
            given = {first: one, **({second: two} if second else {})}
            return types.SimpleNamespace(down=self.value(down, **given), across=self.value(across, **given))

        return place

    def structure(self, space, name, arguments):
        """The constants of a structure template, or of an alias of one, with these arguments."""
        for text in self.texts:
            if space and not re.search(rf"^namespace [\w:]*\b{space} {{", text, re.M):
                continue
            if match := re.search(rf"template <([^{{}}]*?)>\s*struct {name}(?: :[^{{;]*)? {{(.*?)^}};", text, re.S | re.M):
                given = split_top(arguments, ",")
                bound = {}
                for at, parameter in enumerate(split_top(re.sub(r"<[^<>]*>", "", match[1]), ",")):
                    words = re.match(r"\s*(?:class|int|bool|\w+) (\w+)(?: = (.*))?", parameter.strip())
                    text_of = given[at].strip() if at < len(given) and given[at].strip() else words[2]
                    try:
                        bound[words[1]] = self.value(text_of) if text_of else None
                    except NoValue:
                        bound[words[1]] = None
                return Members(Scope([match[2], *self.texts], self.known["T"], **bound))
            if match := re.search(rf"\busing {name} = ([^;]*);", text):
                return self.alias(match[1])
        raise KeyError(name)

    def value(self, expression, **given):
        """The value of an expression, with further names."""
        python = as_python(expression)
        try:
            return eval(python, {"__builtins__": {}}, Names(self, given))  # noqa: S307 - our own sources
        except (KeyError, AttributeError, SyntaxError, TypeError, NameError, ZeroDivisionError) as problem:
            raise NoValue(f"{expression.strip()}: {problem!r}") from problem


class Names(dict):
    """What eval() looks names up in."""

    def __init__(self, scope, given):
        super().__init__(given)
        self.scope = scope

    def __missing__(self, name):
        return self.scope[name]


class Members:
    """The constants of a structure as attributes."""

    def __init__(self, scope):
        self._scope = scope

    def __getattr__(self, name):
        try:
            return self._scope[name]
        except KeyError as problem:
            raise AttributeError(name) from problem
