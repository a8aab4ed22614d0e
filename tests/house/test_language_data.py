"""Words of a language are data: no Chinese, Japanese or Korean literal stands in code outside `i18n/`."""

import ast
import re
import tokenize
from io import BytesIO
from pathlib import Path

from tests.house.sources import python_files, within

_CJK = re.compile(
    "[\u2e80-\u2fdf\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uff66-\uff9f]"
)


def literals(path: Path) -> list[str]:
    """Return the literals of a file that hold Chinese, Japanese or Korean signs as they are written; ranges of signs
    are written with escapes, and docstrings explain."""
    source = path.read_bytes()
    if not _CJK.search(source.decode("utf-8")):
        return []
    explained = {
        (line, node.col_offset)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    tokens = tokenize.tokenize(BytesIO(source).readline)
    return [
        t.string for t in tokens if t.type == tokenize.STRING and _CJK.search(t.string) and t.start not in explained
    ]


def test_words_of_a_language_stand_in_its_lexicon() -> None:
    found = {"/".join(within(path)) for path in python_files("packages") if literals(path)}
    assert {name for name in found if not name.startswith("i18n/")} == set(), "move them to i18n/messages or a lexicon"


def test_the_law_sees_a_literal_and_not_a_docstring(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('"""它."""\nWORD = "它"\n"""它."""\nRANGE = r"[\\u4e00-\\u9fff]"\n# 它\n', "utf-8")
    assert literals(file) == ['"它"']
