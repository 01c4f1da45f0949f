#!/usr/bin/env python3
"""Checks that no message of the library names a flag or a subcommand of the command line.

Each front end has its own words for an option: messages hold a Setting, and the front end says it (include/isochron/error.h).
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A raw string, a string, a character or a comment, whichever comes first.
TOKEN = re.compile(r'R"(?P<mark>[^()\s]*)\((?P<raw>.*?)\)(?P=mark)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'
                   r"'(?:[^'\\\n]|\\.)'|//[^\n]*|/\*.*?\*/", re.DOTALL)
FLAG = re.compile(r"(?<![\w!-])--[a-z]")
COMMAND = re.compile(r"\bisochron (bench|connect|connectome|generate|info|invert|path|solve|surface|tensors|view)\b")


def literals(source):
    """The string literals of C++ text, each with its line number."""
    for token in TOKEN.finditer(source):
        text = token["raw"] if token["raw"] is not None else token["text"]
        if text is not None:
            yield source.count("\n", 0, token.start()) + 1, text


def self_test():
    source = 'f("a\\"b"); // "--c"\n/* "--d" */ g(\'"\', R"x(--e)x");\n#include "h.h"\n'
    assert list(literals(source)) == [(1, 'a\\"b'), (2, "--e"), (3, "h.h")]
    assert FLAG.search("use --method banded") and not FLAG.search("<!--note-->") and not FLAG.search("a--b")
    assert COMMAND.search("see 'isochron info'") and not COMMAND.search("isochron-netgen")


def main():
    self_test()
    wrong = 0
    files = [path for folder in ("include", "src") for path in (ROOT / folder).rglob("*")]
    for path in sorted(p for p in files if p.suffix in (".h", ".cpp", ".cu")):
        for line, text in literals(path.read_text()):
            if FLAG.search(text) or COMMAND.search(text):
                print(f"{path.relative_to(ROOT)}:{line}: names a flag or a subcommand: \"{text}\"")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
