#!/usr/bin/env python3
"""Grades a folder of Reviver's exercises, and writes the results in the format of Gradescope and similar systems.

usage: autograder.py [FOLDER [RESULTS [HIDDEN]]]

FOLDER is the folder that the student hands in (default /autograder/submission). RESULTS is the file to write
(default /autograder/results/results.json). HIDDEN is a folder of the teacher's own expectations.
The program `reviver` must be on the path.
"""

import json
import subprocess
import sys

FOLDER, RESULTS, HIDDEN = range(1, 4)


def argument(at, default):
    return sys.argv[at] if len(sys.argv) > at else default


def output(exercise):
    """Returns the text about an exercise for the student, without the teacher's hidden expectations."""
    if exercise["state"] in ("missing", "untouched"):
        return "not handed in"
    lines = [f"{exercise['met']} of {exercise['asked']} lines met"]
    if "reason" in exercise:
        lines.append(f"reason: {exercise['reason']}")
    for diagnostic in exercise.get("diagnostics", []):
        lines.append(f"line {diagnostic['line']}: {diagnostic['message']}")
    for line in exercise.get("expectations", []):
        if line["met"] is False:
            lines.append(f"not met: {line['expectation']}")
    if "hint" in exercise:
        lines.append(f"hint: {exercise['hint']['what']}")
    return "\n".join(lines)


def main():
    command = ["reviver", "course", "report", argument(FOLDER, "/autograder/submission"), "--json"]
    hidden = argument(HIDDEN, None)
    if hidden:
        command += ["--hidden", hidden]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    [folder] = json.loads(ran.stdout)["folders"]
    tests = [
        {
            "number": str(exercise["number"]),
            "name": exercise["title"],
            "score": exercise["points"],
            "max_score": exercise["max_points"],
            "status": "passed" if exercise["state"] == "passed" else "failed",
            "output": output(exercise),
        }
        for exercise in folder["exercises"]
    ]
    with open(argument(RESULTS, "/autograder/results/results.json"), "w", encoding="utf-8") as file:
        json.dump({"tests": tests}, file, indent=2)


main()
