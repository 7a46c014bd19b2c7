"""What all rules of the house know of files."""

import subprocess

CODE = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".cl"}


def tracked_files(root):
    names = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in names.split("\0") if name and (root / name).is_file()]


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def table_between(root, page, marker):
    """The text of a page between <!-- marker --> and <!-- end -->."""
    text = (root / page).read_text(encoding="utf-8")
    return text.partition(f"<!-- {marker} -->")[2].partition("<!-- end -->")[0]
