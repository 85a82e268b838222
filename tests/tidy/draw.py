#!/usr/bin/env python3
"""Draws doc comments, paragraphs of documents and messages at random, for a reader to judge.

    tests/tidy/draw.py [COUNT [SEED]]

COUNT (20) of each kind are printed with their places; the same SEED (0) draws the same ones from the same tree.
"""

import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Sources of tests have no messages for users.
TESTS = re.compile(r"(^|/)(tests|benches|trials)/|^course/builder/")


def files(ending):
    """Returns the files of the tree with an ending, except build outputs, in a fixed order."""
    found = (path for path in ROOT.rglob(f"*{ending}") if path.is_file())
    names = (path.relative_to(ROOT) for path in found)
    return sorted(name for name in names if not {"target", ".git"} & set(name.parts))


def runs(lines, is_part):
    """Returns the runs of lines that are parts, each with its first line number."""
    run = []
    for number, line in enumerate([*lines, ""], 1):
        if is_part(line):
            run.append((number, line))
        elif run:
            yield run[0][0], [line for _, line in run]
            run = []


def doc_comments(text):
    for marker in ["///", "//!"]:
        for number, lines in runs(text.splitlines(), lambda line: line.strip().startswith(marker)):
            yield number, "\n".join(line.strip()[3:].strip() for line in lines)


def paragraphs(text):
    without_code = re.sub(r"^```.*?^```$", lambda code: "\n" * code[0].count("\n"), text, flags=re.M | re.S)
    for number, lines in runs(without_code.splitlines(), lambda line: line.strip() != ""):
        if not lines[0].startswith(("#", "    ")):
            yield number, "\n".join(lines)


def messages(text):
    """Returns the string literals with at least four words, without comments and tests."""
    code = text.split("#[cfg(test)]\nmod ")[0]
    code = re.sub(r"^\s*//.*$", "", code, flags=re.M)
    for literal in re.finditer(r'"((?:[^"\\]|\\.)*)"', code, re.S):
        message = re.sub(r"\\\n\s*", "", literal[1])
        if len(re.findall(r"\b[a-z]+\b", message)) >= 4 and " " in message and "\n" not in message:
            yield code[: literal.start()].count("\n") + 1, message


def places(ending, parts, is_used=lambda name: True):
    for name in files(ending):
        if is_used(str(name)):
            for number, part in parts((ROOT / name).read_text()):
                yield f"{name}:{number}", part


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    kinds = {
        "Doc comments": places(".rs", doc_comments),
        "Paragraphs": places(".md", paragraphs),
        "Messages": places(".rs", messages, lambda name: not TESTS.search(name)),
    }
    for kind, found in kinds.items():
        found = list(found)
        print(f"# {kind}: {count} of {len(found)}\n")
        for place, part in draw.sample(found, min(count, len(found))):
            print(f"{place}\n    " + part.replace("\n", "\n    ") + "\n")


if __name__ == "__main__":
    main()
