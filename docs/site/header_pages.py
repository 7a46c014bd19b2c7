"""Makes a page of each public header from Doxygen's XML: its comment, then its symbols in the order of the source."""

import pathlib
import re
import xml.etree.ElementTree as ElementTree

from doxygen_text import Descriptions, indented, label_of

CLASSES = ("class", "struct")
LONGEST_INITIALIZER = 40
SMALL = ("enumerator", "member")  # too many for the list beside a page


def unqualified(name: str) -> str:
    """Returns the name of a class without its namespaces; the arguments of a template keep theirs."""
    name, bracket, arguments = name.partition("<")
    return name.split("::")[-1] + bracket + arguments


def plain(node):
    """An element's text as C++ writes it: one blank at most, and none within angle brackets."""
    text = "" if node is None else "".join(node.itertext())
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"\[\[gnu::\w+\]\] ?", "", text)
    return re.sub(r" (>)", r"\1", re.sub(r"< ", "<", text))


def template_of(entity):
    """`template<class T, MatrixLike A> ` before a declaration; an empty string for what is no template."""
    found = entity.find("templateparamlist")
    if found is None:
        return ""
    parameters = []
    for parameter in found.findall("param"):
        words = [plain(parameter.find("type")), plain(parameter.find("declname"))]
        default = plain(parameter.find("defval"))
        parameters.append(" ".join(filter(None, words)) + (f" = {default}" if default else ""))
    return f"template<{', '.join(parameters)}> "


def line_of(entity):
    return int(entity.find("location").get("line"))


def place_of(entity, name):
    """`header:line: name`; a header itself has no line in Doxygen's XML and stands for its first."""
    location = entity.find("location")
    return f"{location.get('file')}:{location.get('line') or 1}: {name}"


class Header:
    """One header: its file in Doxygen's XML and the symbols that it declares."""

    def __init__(self, compound):
        self.compound = compound
        self.path = compound.find("location").get("file")
        self.is_c = self.path.endswith(".h")
        self.symbols = []

    @property
    def page(self):
        return "reference/" + self.path.removeprefix("tessera/").replace("/", "-").replace(".", "-")


class HeaderPages:
    """All headers of one run of Doxygen."""

    def __init__(self, xml):
        read = (
            ElementTree.parse(path).getroot().find("compounddef")
            for path in sorted(pathlib.Path(xml).glob("*.xml"))
            if path.stem not in ("index", "Doxyfile")
        )
        self.compounds = {compound.get("id"): compound for compound in read if compound is not None}
        self.headers = {}
        for compound in self.compounds.values():
            if compound.get("kind") == "file":
                header = Header(compound)
                self.headers[header.path] = header
        self.known = {
            compound.get("id") for compound in self.compounds.values() if compound.get("kind") in ("file", "concept")
        }
        for compound in self.compounds.values():
            self.share_out(compound)
        self.text = Descriptions(self.known)

    def share_out(self, compound):
        """Gives symbols outside classes to the header that declares them, and notes what has a description."""
        kind = compound.get("kind")
        outside = kind in ("file", "namespace")
        for member in compound.iter("memberdef"):
            if not self.is_shown(member):
                continue
            self.known.update([member.get("id"), *(value.get("id") for value in member.findall("enumvalue"))])
            header = self.headers.get(member.find("location").get("file"))
            if outside and header and member not in header.symbols:
                header.symbols.append(member)
        if kind in (*CLASSES, "concept"):
            header = self.headers.get(compound.find("location").get("file"))
            nested = any(
                inner.get("refid") == compound.get("id")
                for other in self.compounds.values()
                if other.get("kind") in CLASSES
                for inner in other.findall("innerclass")
            )
            if header and not nested:
                header.symbols.append(compound)
            self.known.add(compound.get("id"))

    def is_shown(self, member):
        """Is the member something that a program uses? Deduction guides, for example, work without being named."""
        arguments = plain(member.find("argsstring"))
        if (
            member.get("prot") == "private"
            or member.get("kind") == "friend"
            or plain(member.find("type")).startswith("template ")
        ):
            return False
        if member.get("kind") == "typedef" and re.fullmatch(
            rf"(enum|struct) {member.findtext('name')}", plain(member.find("type"))
        ):
            return False
        if member.get("kind") == "define" and member.findtext("name") in ("TESSERA_C_API", "TESSERA_INT"):
            return False
        return not arguments.replace(" ", "").endswith("=delete") and "->" not in arguments

    # --- declarations -----------------------------------------------------------------------------------------------

    def words_before(self, member):
        """What stands before the name: `static constexpr Index `. Newer versions of Doxygen keep constexpr apart."""
        words = [word for word in ("static", "explicit", "constexpr") if member.get(word) == "yes"]
        words += ["virtual"] if member.get("virt") in ("virtual", "pure-virtual") else []
        words += [word for word in plain(member.find("type")).split(" ") if word not in words]
        return " ".join(filter(None, words))

    def function(self, member):
        arguments = re.sub(r"=0$", "= 0", plain(member.find("argsstring")))
        return f"{template_of(member)}{self.words_before(member)} {member.findtext('name')}".strip() + arguments

    def variable(self, member):
        before, name, after = self.words_before(member), member.findtext("name"), plain(member.find("argsstring"))
        if pointer := re.fullmatch(r"(.*?) ?\(\*\)?", before):  # to a function; versions differ in where they cut
            return f"{pointer[1]} (*{name}){after.removeprefix(')')}"
        value = plain(member.find("initializer")).removeprefix("=").strip()
        shown = value and len(value) <= LONGEST_INITIALIZER and "[](" not in value
        return f"{before} {name}{after}" + (f" = {value}" if shown else "")

    def typedef(self, member):
        declared = template_of(member) + member.findtext("name")
        means = plain(member.find("type")) + plain(member.find("argsstring"))
        return declared if "decltype" in means else f"{declared} = {means}"  # Sphinx cannot read a decltype here

    def enumeration(self, member):
        underlying = plain(member.find("type"))
        return member.findtext("name") + (f" : {underlying}" if underlying else "")

    def directive(self, member, in_c):
        """The directive of a member and its declaration."""
        kind = member.get("kind")
        domain = "c" if in_c or kind == "define" else "cpp"
        if kind == "function":
            return f"{domain}:function", self.function(member)
        if kind == "enum":
            strong = member.get("strong") == "yes"
            return (
                ("cpp:enum-class", self.enumeration(member)) if strong else (f"{domain}:enum", member.findtext("name"))
            )
        if kind == "define":
            names = [plain(parameter.find("defname")) for parameter in member.findall("param")]
            return "c:macro", member.findtext("name") + (f"({', '.join(names)})" if names else "")
        if kind == "typedef":
            return (
                (f"{domain}:type", f"{plain(member.find('type'))} {member.findtext('name')}")
                if in_c
                else ("cpp:type", self.typedef(member))
            )
        inside = member.get("id").startswith(("struct", "class"))
        return f"{domain}:{'member' if inside else 'var'}", self.variable(member)

    # --- pages ------------------------------------------------------------------------------------------------------

    def described(self, entity, directive, declaration, inside=""):
        parts = [self.text.of(entity)]
        requirement = plain(entity.find("requiresclause"))
        if requirement:
            parts.append(f"*Requires* ``{requirement}``")
        body = "\n\n".join(part for part in [*parts, inside] if part)
        options = "   :no-contents-entry:\n" if directive.split(":")[1] in SMALL else ""
        return f".. _{label_of(entity.get('id'))}:\n\n.. {directive}:: {declaration}\n{options}\n{indented(body)}\n"

    def member(self, member, in_c):
        directive, declaration = self.directive(member, in_c)
        if member.get("kind") != "enum":
            return self.described(member, directive, declaration)
        domain = directive.split(":")[0]
        values = []
        for value in member.findall("enumvalue"):
            number = plain(value.find("initializer"))
            values.append(self.described(value, f"{domain}:enumerator", f"{value.findtext('name')} {number}".strip()))
        if member.findtext("name") in ("", None) or member.findtext("name").startswith("@"):
            return "\n".join(values)
        return self.described(member, directive, declaration, "\n".join(values))

    def class_of(self, compound, in_c):
        name = compound.findtext("compoundname").split("::")[-1]
        members = [member for member in compound.iter("memberdef") if self.is_shown(member)]
        inner = [
            self.compounds[found.get("refid")]
            for found in compound.findall("innerclass")
            if found.get("prot") != "private" and found.get("refid") in self.compounds
        ]
        shown = [(line_of(member), self.member(member, in_c)) for member in members]
        shown += [(line_of(found), self.class_of(found, in_c)) for found in inner]
        inside = "\n".join(text for _, text in sorted(shown, key=lambda entry: entry[0]))
        if in_c:
            return self.described(compound, "c:struct", name, inside)
        bases = ", ".join(f"public {unqualified(plain(base))}" for base in compound.findall("basecompoundref"))
        declaration = template_of(compound) + name + (f" : {bases}" if bases else "")
        return self.described(compound, f"cpp:{compound.get('kind')}", declaration, inside)

    def concept(self, compound):
        name = compound.findtext("compoundname").split("::")[-1]
        code = (
            "".join(compound.find("initializer").itertext())
            .strip()
            .replace("tessera::" + name, name)
            .replace("=  ", "= ")
        )
        block = f".. code-block:: cpp\n   :force:\n\n{indented(code)}"
        return self.described(compound, "cpp:concept", template_of(compound) + name, block)

    def symbol(self, entity, header):
        if entity.tag == "memberdef":
            return self.member(entity, header.is_c)
        if entity.get("kind") == "concept":
            return self.concept(entity)
        return self.class_of(entity, header.is_c)

    def page(self, header):
        title = header.path.removeprefix("tessera/")
        parts = [
            f".. _{label_of(header.compound.get('id'))}:",
            f"{title}\n{'=' * len(title)}",
            f".. code-block:: {'c' if header.is_c else 'cpp'}\n\n   #include <{header.path}>",
            self.text.of(header.compound),
        ]
        symbols = sorted(header.symbols, key=line_of)
        if symbols:
            parts.append("Symbols\n-------")
        if symbols and not header.is_c:
            parts.append(".. cpp:namespace:: tessera")
        return "\n\n".join(parts + [self.symbol(entity, header) for entity in symbols]) + "\n"

    def undocumented(self):
        """`header:line: name` of each symbol without a description, values of enumerations and members included."""
        for compound in self.compounds.values():
            kind = compound.get("kind")
            if kind in (*CLASSES, "concept", "file") and not self.text.of(compound):
                yield place_of(compound, compound.findtext("compoundname"))
            for member in compound.iter("memberdef") if kind in (*CLASSES, "namespace", "file") else ():
                name = member.findtext("name") or ""
                unnamed = name.startswith("@") or not name
                if self.is_shown(member) and not unnamed and not self.text.of(member):
                    yield place_of(member, name)
                for value in member.findall("enumvalue"):
                    if not self.text.of(value):
                        yield place_of(member, f"{name}::{value.findtext('name')}")
