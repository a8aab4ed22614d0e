"""`python -m tests.contract [REASONER …] [ROW …]`: run the rows; all of them are written to docs/contract.md."""

import sys
import tempfile
from pathlib import Path

from tests.contract.scenes import REASONERS
from tests.contract.table import PAGE, page_of, run_all


def main() -> int:
    """Run what was named, say what is not green, and write the page when all was run."""
    reasoners = [word for word in sys.argv[1:] if word in REASONERS] or list(REASONERS)
    only = [word for word in sys.argv[1:] if word not in REASONERS]
    with tempfile.TemporaryDirectory() as folder:
        results = run_all(Path(folder), reasoners, only)
    bad = [f"{row} {name}: {why}" for name, found in results.items() for row, why in found.items() if why]
    sys.stdout.write("\n".join([*bad, f"{sum(map(len, results.values()))} checked, {len(bad)} not green"]) + "\n")
    if not only and len(reasoners) == len(REASONERS):
        PAGE.write_text(page_of(results), "utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
