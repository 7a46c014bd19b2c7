"""Turns the descriptions in Doxygen's XML into reStructuredText."""

import re
import textwrap

LISTS = {"itemizedlist": "- ", "orderedlist": "#. "}
BLOCKS = {"verbatim", "programlisting", *LISTS}
MARKS = {"ndash": "–", "mdash": "—", "nonbreakablespace": "\u00a0", "linebreak": " ", "deg": "°", "times": "×"}


def escaped(text):
    """Text in which no character is markup."""
    return re.sub(r"([\\`*_|<])", r"\\\1", re.sub(r"\s+", " ", text or ""))


def label_of(identifier):
    """The label of a symbol or a header, from Doxygen's identifier."""
    return "doxygen-" + identifier.lower().replace("_", "-")


def indented(text, width=3):
    return textwrap.indent(text, " " * width)


class Descriptions:
    """Writes descriptions; `known` has the identifiers that pages describe, so that links lead to them."""

    def __init__(self, known):
        self.known = known

    def inline(self, node):
        """The text within a paragraph, with links and literals, without what follows the node."""
        tag = node.tag
        if tag == "computeroutput":
            text = "".join(node.itertext())
            target = next((ref.get("refid") for ref in node.iter("ref")), None)
            if target in self.known and "`" not in text:
                return f"\\ :ref:`{escaped(text)} <{label_of(target)}>`\\ "
            return f"\\ ``{text}``\\ "
        if tag == "ref":
            text = escaped("".join(node.itertext()))
            target = node.get("refid")
            return f"\\ :ref:`{text} <{label_of(target)}>`\\ " if target in self.known else text
        if tag in ("bold", "emphasis"):
            mark = "**" if tag == "bold" else "*"
            return f"\\ {mark}{escaped(''.join(node.itertext()))}{mark}\\ "
        if tag in MARKS:
            return MARKS[tag]
        text = escaped(node.text)
        for child in node:
            text += self.inline(child) + escaped(child.tail)
        return text

    def block(self, node):
        if node.tag in LISTS:
            mark = LISTS[node.tag]
            items = (indented(self.paragraphs(item), len(mark))[len(mark) :] for item in node.findall("listitem"))
            return "\n".join(mark + item for item in items)
        code = textwrap.dedent("".join(node.itertext()).strip("\n"))
        language = "cpp" if ";" in code or "#include" in code else "text"
        return f".. code-block:: {language}\n   :force:\n\n{indented(code)}"

    def paragraph(self, node):
        """A paragraph, which in Doxygen's XML may have lists and code within."""
        parts, text = [], escaped(node.text)
        for child in node:
            if child.tag in BLOCKS:
                parts += [text.strip(), self.block(child)]
                text = escaped(child.tail)
            else:
                text += self.inline(child) + escaped(child.tail)
        return "\n\n".join(part for part in [*parts, text.strip()] if part)

    def paragraphs(self, node):
        """All paragraphs of a description; an empty string where there is none."""
        if node is None:
            return ""
        return "\n\n".join(filter(None, (self.paragraph(child) for child in node.findall("para"))))

    def of(self, entity):
        """The description of a symbol: the brief part, then the rest."""
        parts = (self.paragraphs(entity.find(part)) for part in ("briefdescription", "detaileddescription"))
        return "\n\n".join(filter(None, parts))
