"""`claimcheck CLAIM FILE`: judge a claim against a text file (- for stdin)."""

import argparse
import json
import sys
from pathlib import Path

from claimcheck import check

CODES = {"supported": 0, "unverified": 1, "contradicted": 2}
"""The exit codes by verdict."""


def main(arguments: list[str] | None = None) -> int:
    """Print the verdict with its reason; return the exit code (3: unreadable file)."""
    parser = argparse.ArgumentParser(
        prog="claimcheck",
        description="Judge whether a text says a claim, by its words, numbers, names and quotations, without a model.",
        epilog="Exit codes: 0 supported, 1 unverified, 2 contradicted, 3 the file could not be read.",
    )
    parser.add_argument("claim", help="the sentence to judge")
    parser.add_argument("file", help="the text file to hold it against; - for standard input")
    parser.add_argument("--about", default="", help="title of the text; helps with names")
    parser.add_argument("--language", default="en", choices=("en", "zh", "ko", "ja"), help="language of the reason")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    given = parser.parse_args(arguments)
    try:
        text = sys.stdin.read() if given.file == "-" else Path(given.file).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        print(f"claimcheck: {given.file} could not be read as UTF-8 text: {error}", file=sys.stderr)  # noqa: T201
        return 3
    verdict = check(given.claim, text, about=given.about)
    reason = verdict.explain(given.language)
    said = {"verdict": verdict.kind, "reason": reason, "code": verdict.code, "values": dict(verdict.values)}
    print(json.dumps(said, ensure_ascii=False) if given.json else f"{verdict.kind}: {reason}")  # noqa: T201
    return CODES[verdict.kind]


if __name__ == "__main__":
    sys.exit(main())
