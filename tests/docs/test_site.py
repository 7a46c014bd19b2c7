"""Tests what makes the site's pages, docs/site, as far as it needs no packages; ./tessera docs builds the site."""

import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "docs/site"))

import python_pages  # noqa: E402
from check_layout import check_layout  # noqa: E402
from check_links import check_links  # noqa: E402
from check_pictures import browser_command  # noqa: E402
from check_search import check_search  # noqa: E402
from doxygen_text import Descriptions  # noqa: E402
from header_pages import HeaderPages, plain  # noqa: E402
from markdown_pages import MarkdownPages  # noqa: E402
from printed import difference  # noqa: E402

HEADER = """<doxygen><compounddef id="a_8hpp" kind="file"><compoundname>a.hpp</compoundname>
<briefdescription/><detaileddescription><para>Products.</para></detaileddescription>
<location file="tessera/a.hpp"/>
</compounddef></doxygen>"""
NAMESPACE = """<doxygen><compounddef id="namespacetessera" kind="namespace"><compoundname>tessera</compoundname>
<sectiondef kind="func">
<memberdef kind="function" id="a_8hpp_1f" prot="public" static="no"><templateparamlist><param><type>class T</type>
</param></templateparamlist><type>Matrix&lt; T &gt;</type><name>product</name>
<argsstring>(const T &amp;x=0) noexcept</argsstring>
<briefdescription><para>Multiplies.</para></briefdescription><detaileddescription/>
<requiresclause>Number&lt;T&gt;</requiresclause><location file="tessera/a.hpp" line="9"/></memberdef>
<memberdef kind="enum" id="a_8hpp_1e" prot="public" static="no" strong="yes"><type>int</type><name>Kind</name>
<enumvalue id="a_8hpp_1v" prot="public"><name>One</name><initializer>= 1</initializer><briefdescription/>
<detaileddescription/></enumvalue><briefdescription><para>Kinds.</para></briefdescription><detaileddescription/>
<location file="tessera/a.hpp" line="5"/></memberdef>
</sectiondef><location file="tessera/a.hpp" line="3"/></compounddef></doxygen>"""


class Site(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def staged(self, name="docs/guide.md", contents=("docs/guide.md",)):
        pages = MarkdownPages(self.root, self.root / "site", {"tessera/a.hpp": "reference/a-hpp"})
        pages.write([{"caption": "All", "pages": list(contents)}])
        return (self.root / "site" / name).read_text(encoding="utf-8")

    def test_links_of_a_page(self):
        self.write("README.md", "# Start\n")
        self.write(
            "docs/guide.md",
            "# Guide\n\n[s](../README.md#start) [f](../src) [g](../src/gpu) [h](../include/tessera/a.hpp) `[c](no.md)`\n",
        )
        self.write("src/README.md", "# Sources\n")
        self.write("src/gpu/tool.py", "pass\n")
        self.write("include/tessera/a.hpp", "")
        contents = ["docs/guide.md", "src/README.md"]
        page = self.staged("docs/guide.md", contents)
        self.assertTrue(page.startswith("# Guide\n\n[s](../index.md#start) [f](../src/README.md) [g](../src/gpu/README.md) "), page)
        self.assertTrue(page.endswith(" [h](../reference/a-hpp.rst) `[c](no.md)`\n"), page)
        self.assertEqual(self.staged("src/gpu/README.md", contents), "# src/gpu\n\n- [tool.py](tool.py)\n")
        self.assertTrue((self.root / "site/src/gpu/tool.py").is_file())
        self.assertIn("\n/src/gpu/README\n", self.staged("src/README.md", contents))
        self.assertIn(":caption: All\n\n/docs/guide\n/src/README\n", self.staged("index.md", contents))

    def test_a_page_without_a_place(self):
        self.write("README.md", "# Start\n")
        self.write("docs/guide.md", "# Guide\n")
        with self.assertRaisesRegex(SystemExit, "docs/guide.md:1: has no place on the site"):
            self.staged(contents=())

    def test_a_link_to_no_file(self):
        self.write("README.md", "# Start\n")
        self.write("docs/guide.md", "# Guide\n\n[gone](gone.md)\n")
        with self.assertRaisesRegex(SystemExit, "docs/guide.md:3: the link gone.md leads nowhere"):
            self.staged()

    def test_a_description(self):
        said = ElementTree.fromstring(
            '<d><para>Takes <computeroutput>a_b</computeroutput>, *x* and <ref refid="f_1">f()</ref>.'
            "<verbatim>g(1);\n  h(2);\n</verbatim>Ends.</para></d>"
        )
        self.assertEqual(
            Descriptions({"f_1"}).paragraphs(said),
            "Takes \\ ``a_b``\\ , \\*x\\* and \\ :ref:`f() <doxygen-f-1>`\\ .\n\n"
            ".. code-block:: cpp\n   :force:\n\n   g(1);\n     h(2);\n\nEnds.",
        )
        self.assertEqual(
            plain(ElementTree.fromstring("<t>std::span&lt; const <r>T</r> &gt;</t>")), "std::span<const T>"
        )

    def test_a_header(self):
        self.write("xml/a_8hpp.xml", HEADER)
        self.write("xml/namespacetessera.xml", NAMESPACE)
        pages = HeaderPages(self.root / "xml")
        page = pages.page(pages.headers["tessera/a.hpp"])
        self.assertIn(
            ".. cpp:function:: template<class T> Matrix<T> product(const T &x=0) noexcept\n\n   Multiplies.\n\n"
            "   *Requires* ``Number<T>``\n",
            page,
        )
        self.assertLess(
            page.index("cpp:enum-class:: Kind : int"), page.index("cpp:function::"), "the order of the source"
        )
        self.assertEqual(list(pages.undocumented()), ["tessera/a.hpp:5: Kind::One"])

    def test_a_built_site(self):
        self.write("a.html", '<a href="b.html#here">b</a> <a href="c.html">c</a> <img src="https://example.org/p.png">')
        self.write("b.html", '<a href="a.html#there">a</a> <p id="here">text</p>')
        self.assertEqual(
            check_links(self.root),
            [
                "a.html: https://example.org/p.png is not in the site",
                "a.html: the link c.html leads nowhere",
                "b.html: the link a.html#there names an anchor that is not there",
            ],
        )

    @unittest.skipIf(browser_command() is None, "there is no Chromium")
    def test_pages_in_a_narrow_window(self):
        picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
        self.write("p.svg", picture)
        self.write("fits.html", '<div style="overflow-x: auto"><p style="width: 900px">…</p></div><img src="p.svg">')
        self.write("wide.html", '<body style="margin: 0"><p style="width: 900px">…</p><img src="absent.svg" loading="lazy">')
        self.assertEqual(
            check_layout(self.root),
            ["wide.html: does not show absent.svg", "wide.html: is 900 pixels wide in a window of 400"],
        )

    def test_symbols_of_the_python_package(self):
        python_pages.load_package()
        self.assertEqual(list(python_pages.undescribed()), [])

    def test_what_the_search_finds(self):
        self.write("searchindex.js", 'Search.setIndex({"objtypes": {"0": "cpp:class", "1": "cpp:functionParam"}})\n')
        self.assertEqual(check_search(self.root), ["searchindex.js: the search finds each cpp:functionParam"])
        self.write("searchindex.js", 'Search.setIndex({"objtypes": {}})')
        self.assertEqual(check_search(self.root), ["searchindex.js: the search finds no symbols"])
        self.write("searchindex.js", 'Search.setIndex({"objtypes": {"0": "cpp:class"}})')
        self.assertEqual(check_search(self.root), [])

    def test_what_a_program_prints(self):
        source = "print(a)  # prints: 1 of … done\nputs(b); /* prints: (2) */\nstd::cout << c; // prints: 3\n"
        self.assertEqual(difference(source, "x\n1 of 8 done\n(2)\n3\n"), "")
        self.assertIn("'3'", difference(source, "1 of 8 done\n(2)\n33\n"))
        self.assertIn("'(2)'", difference(source, "1 of 8 done\n3\n(2) \n"))
        self.assertIn("nothing", difference("int main() {}", "\n"))


if __name__ == "__main__":
    unittest.main()
