#!/usr/bin/env python3
"""Checks the Markdown pages: relative links and their anchors lead somewhere, lines have at most 120 columns (a line that a
URL makes longer may), and the documentation has at most 34,300 words (CHANGELOG.md, bench/NOTES.md and generated tables are not counted)."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MAX_COLUMNS = 120
MAX_WORDS = 34_300  # 33,000 before inversions: a command, a Python function and their pages
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?\s*\)")


def pages():
    """All pages of the project."""
    folders = ("docs", "bench", "examples", "python", "apps", "scripts", "tests")
    found = list(ROOT.glob("*.md")) + [page for folder in folders for page in (ROOT / folder).rglob("*.md")]
    return sorted(page for page in found if "node_modules" not in page.parts)


def without_code(text):
    """The text with its code blocks and code spans blanked out; lines stay lines."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block.group().count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page):
    """The names under which the headings of a page can be linked to, as GitHub makes them."""
    names = set()
    code = False
    for line in page.read_text(encoding="utf-8").splitlines():
        code ^= line.startswith("```")
        if not code and line.startswith("#"):
            title = re.sub(r"[`*]|\]\([^)]*\)|\[", "", line.lstrip("#").strip()).lower()
            names.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return names


def check(page):
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT)
    for number, line in enumerate(text.splitlines(), 1):
        if len(re.sub(r"https?://\S+", "", line)) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns (at most {MAX_COLUMNS})"
    for target in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists():
            yield f"{name}: the link to {target} leads nowhere"
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
            yield f"{name}: {target} has no such heading"


def words():
    counted = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    written = (re.sub(r"<!-- generated.*?<!-- end -->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL) for page in counted)
    return sum(len(text.split()) for text in written)


def main():
    problems = [problem for page in pages() for problem in check(page)]
    count = words()
    if count > MAX_WORDS:
        problems.append(f"the documentation has {count} words (at most {MAX_WORDS}); move logs to bench/NOTES.md")
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    print(f"check_docs: {len(pages())} pages, {count} words, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
