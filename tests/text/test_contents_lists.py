"""A table of contents, an index or a menu is told from prose, data and code."""

import pytest

from deep_research.text.contents_lists import is_contents_list

LISTS = {
    "chapters": "4.9. Main building script\n\n4.9.1. Rules\n\n4.10. Variable substitutions\n\n4.11. The watch file\n\n5. Control\n\n5.1. Syntax",
    "chapters in Chinese": "1.3. 需要的开发文档\n1.4. 到何处求助\n2. 第一步\n2.1. 软件包制作流程\n2.2. 挑一个程序\n2.3. 获取程序并试用",
    "index": "append() (array.array method)\n(collections.deque method)\n(list method)\nappendChild()\nappendleft()\napplication_uri()",
    "head": "# 3.2. Back up your data!\n\n3.2. Back up your data!\n\nChapter 3. Before you install\n\n3.2. Back up your data!",
    "menu": "Table of Contents\nNext topic\nThis Page\nShow Source\nQuick search\nindex\nmodules",
}
OTHERS = {
    "prose": "One engine is enough.\nTwo are better.\nThree are rare.\nFour are unknown.\nFive is a joke.\nSix is a lie.",
    "settings": "port: 5432\nhost: localhost\nuser: alice\ntimeout: 30 s\nretries: 4\nlevel: info",
    "code": "import asyncio\nloop = get_loop()\nx = run(main())\nprint(x)\ny = {1: 2}\nassert x == y",
    "table": "| a | b |\n| - | - |\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n| 7 | 8 |",
    "comment and code": "# Wait twice.\nwait()\nwait()",
    "head and sentence": "# 3.2. Back up!\n\n3.2. Back up!\n\n3.2. Back up!\n\nAll files of a disk that is divided anew may be lost, so copy them first.",
    "short": "Speed\nWeight\nPrice",
}


@pytest.mark.parametrize("name", [*LISTS, *OTHERS])
def test_lists_of_names_are_told_and_what_says_something_is_none(name: str) -> None:
    assert is_contents_list({**LISTS, **OTHERS}[name]) == (name in LISTS)
