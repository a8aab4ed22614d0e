"""Reports of others: statements and what they cite, in the styles people meet."""

import pytest

from deep_research.verification.foreign import ForeignReport, read_report

A, B = "https://a.org/one_(x)", "https://b.org/two?q=1&r=2"

STYLES = {
    "links in the text": f"Coal [fell]({A}) in 2024. Wind grew ([Agency, 2025]({B})).",
    "links behind full stops": f"Coal fell in 2024. [Agency]({A})\nWind grew. ([The Paper]({B}))",
    "numbered links": f"Coal fell in 2024 [[1]]({A}). Wind grew [2]({B}).",
    "numbers with a list": f"Coal fell in 2024[1]. Wind grew [2].\n\n## Sources\n\n[1] First: {A}\n[2] {B} - Second",
    "numbers with a list of links": f"Coal fell in 2024 [1]. Wind grew [2].\n\n**Sources**\n\n1. [First]({A})\n2. [Second]({B})",
    "numbers with a table": f"Coal fell in 2024 [1]. Wind grew [2].\n\n## Sources\n\n| No | Page |\n|---|---|\n| 1 | {A} |\n| [2] | {B} |",
    "numbers with a list without a heading": f"Coal fell in 2024 [1]. Wind grew [2].\n\n---\n[1] First {A}\n[2] Second {B}",
    "footnotes": f"Coal fell in 2024.[^1] Wind grew.[^b]\n\n[^1]: First, {A}\n[^b]: {B}",
    "superscripts": f"Coal fell in 2024.¹ Wind grew² fast.\n\nReferences\n\n¹ First {A}\n² Second {B}",
    "lenses": f"Coal fell in 2024【1†source】. Wind grew【2†L3-L9】.\n\n参考文献\n【1】{A}\n【2】{B}",
    "source lines": f"Coal fell in 2024.\nSource: {A}\n\nWind grew.\n\nSource: [Agency]({B})",
    "sources behind full stops": f"Coal fell in 2024. Source: {A}. Wind grew。来源：{B}",
    "angle brackets": f"Coal fell in 2024 <{A}>. Wind grew <{B}>.",
    "links by reference": f'Coal [fell][1] in 2024. Wind [grew][b].\n\n[1]: {A} "First"\n[b]: <{B}>',
    "html links": f'Coal fell in 2024 <a href="{A}">1</a>. Wind grew <a href="{B}">(Agency)</a>.',
    "lenses around addresses": f"Coal fell in 2024【1†{A}】. Wind grew【2】.\n\nSources\n【1†{A}】\n【2†{B}】",
    "source words of other languages": f"Coal fell in 2024. Quelle: {A}. Wind grew (Fuente: {B}).",
    "carets": f"Coal fell in 1998^1. Wind grew^[2]^.\n\n## Quellenverzeichnis\n1. {A}\n2. {B}",
    "escaped links": f"Coal fell in 2024 [\\[1\\]]({A}). Wind grew \\[[2]({B})\\].",
    "lists of sections": f"## One\nCoal fell in 2024 [1].\n\n[1] {A}\n\n## Two\nWind grew.¹\n\n¹ {B}\n\n## End\n",
    "lists in lines": f"Coal fell in 2024 [1].\n\n*Sources: [1] {A}*\n\nWind grew [1].\n\n*Sources: [1] {B}*",
    "lists in one line": f"Coal fell in 2024 [1]. Wind grew [2].\n\n## Sources\n\n[1] First {A} [2] Second {B}",
    "raised notes beside a list": f"Coal fell in 2024.¹ Wind grew [1].\n\n¹ {A}\n\n## Sources\n\n1. {B}",
    "neighbours": f"Coal fell in 2024 [1]. Wind grew [2].\n\n## 参考来源\n[1] 一 {A}\n\n[2]：{B}\n\n## Outlook\n",
}


def _cited(report: ForeignReport) -> list[tuple[str, tuple[str, ...]]]:
    urls = {reference.key: reference.url for reference in report.references}
    return [(s.text, tuple(urls[key] for key in s.passages)) for s in report.statements()]


@pytest.mark.parametrize("style", STYLES)
def test_statements_cite_what_they_cite(style: str) -> None:
    found = _cited(read_report(STYLES[style]))
    assert [urls for _text, urls in found] == [(A,), (B,)]
    assert [text.split()[0] for text, _urls in found] == ["Coal", "Wind"]
    assert not any(mark in text for text, _urls in found for mark in ("http", "[", "¹", "²", "†", "sup>"))


def test_chinese_and_ranges() -> None:
    text = "煤炭下降【1-3，5】。风电增长[2、4]。\n（参考：[1][2]）\n\n## 参考资料\n" + "\n".join(
        f"{number}. 标题{number}：https://c.cn/{number}" for number in range(1, 6)
    )
    assert _cited(read_report(text)) == [
        ("煤炭下降。", tuple(f"https://c.cn/{number}" for number in (1, 2, 3, 5))),
        ("风电增长。", tuple(f"https://c.cn/{number}" for number in (2, 4, 1))),
    ]


def test_a_source_below_a_table_belongs_to_all_of_its_rows() -> None:
    text = f"| Fuel | Share |\n|---|---|\n| Coal | 30 % |\n| Wind | 20 % [x]({B}) |\n\n*Source: {A}*\n"
    assert [urls for _text, urls in _cited(read_report(text))] == [(A,), (B,)]


def test_a_source_below_a_list_or_behind_a_paragraphs_last_stop_belongs_to_all_of_it() -> None:
    text = f"- Coal fell.\n- Wind grew.\n(Source: {A})\n\nOil fell. Gas grew. [1]\n\nSun rose. Rain fell [1].\n\n- Ice melted. Snow fell. [1]\n- Fog came.\n\n## Sources\n[1] {B}"
    assert [urls for _text, urls in _cited(read_report(text))] == [(A,), (A,), (B,), (B,), (), (B,), (B,), (B,), ()]


def test_a_number_in_brackets_behind_a_sign_of_code_is_no_citation() -> None:
    text = f"Set reserve=[1] there. Coal fell [1].\n\n## Sources\n[1] {A}\n"
    assert _cited(read_report(text)) == [("Set reserve=[1] there.", ()), ("Coal fell.", (A,))]


def test_no_heading_hides_what_a_report_states() -> None:
    text = f"# R\n\n## How this was checked\n\nCoal fell [1]°. A model judged it.\n\n## Sources\n\n1. {A}\n"
    assert _cited(read_report(text)) == [("Coal fell.", (A,)), ("A model judged it.", ())]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"Wind grew. [Coal fell a lot in that year]({A})", ["Wind grew.", "Coal fell a lot in that year"]),
        (f"1. Wind grew.\n2. [Coal fell a lot in that year]({A})", ["Wind grew.", "Coal fell a lot in that year"]),
        (f"Wind grew ([coal fell a lot in that year]({A})).", ["Wind grew (coal fell a lot in that year)."]),
        (f"Coal fell (source: [How coal fell a lot in that year]({A})).", ["Coal fell."]),
    ],
)
def test_words_of_a_link_that_say_something_stay_and_cite(text: str, said: list[str]) -> None:
    found = _cited(read_report(text))
    assert [text for text, _urls in found] == said
    assert [urls for _text, urls in found][-1] == (A,)
    assert not any(urls for _text, urls in found[:-1])


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        (
            "W is 3 × FL³.³⁷ here¹.\n\n## Sources\n1. http://a.test\n3. http://b.test\n37. http://c.test",
            ["http://a.test"],
        ),
        ("It turns [1].\n\n## Sources\n[1] A: http://a.test/x_", ["http://a.test/x_"]),
        ("It turns.¹\n\n¹ Maier 1999, p. 3", [""]),
    ],
)
def test_a_number_an_address_and_a_link_are_whole(text: str, cited: list[str]) -> None:
    report = read_report(text)
    urls = {reference.key: reference.url for reference in report.references}
    assert [[urls[key] for key in statement.passages] for statement in report.statements()] == [cited]


@pytest.mark.parametrize("link", ["[Maker](http://a.test/x)", "[Maker](http://a.test/x).", "[Maker][m]"])
def test_a_link_between_two_sentences_belongs_to_the_one_before(link: str) -> None:
    listed = "\n\n[m]: http://a.test/x\n"
    found = read_report(f"It turns at 3,000 rpm. {link} The firm is old.{listed}").statements()
    assert [(s.text, s.passages) for s in found] == [("It turns at 3,000 rpm.", ("r1",)), ("The firm is old.", ())]
    begins = read_report("It turns. [Apache](http://a.test/x) Kafka is fast.").statements()
    assert [(s.text, s.passages) for s in begins] == [("It turns.", ()), ("Apache Kafka is fast.", ("r1",))]


def test_titles_of_references_are_kept() -> None:
    report = read_report(f"Coal fell [1][2][3].\n\n## Sources\n[1] *Power* in 2024 — {A}\n[2] A book, 1999.\n")
    assert [(reference.url, reference.title) for reference in report.references] == [
        (A, "Power in 2024"),
        ("", "A book, 1999"),
        ("", "[3]"),
    ]
    (statement,) = report.statements()
    assert statement.passages == ("r1", "r2", "r3")


def test_a_list_of_one_entry_needs_no_heading_where_its_number_is_cited() -> None:
    assert _cited(read_report(f"Coal fell [1].\n\n[1] {A}\n")) == [("Coal fell.", (A,))]
    assert [text for text, _ in _cited(read_report(f"Coal fell.\n\n[1] {A} says so.\n"))] == [
        "Coal fell.",
        "[1] says so.",
    ]


def test_lists_of_several_parts_have_their_own_numbers() -> None:
    text = f"# One\nCoal fell [1].\n\n## Sources\n[1] {A}\n\n# Two\nWind grew [1].\n\n## Sources\n[1] {B}\n"
    assert [urls for _text, urls in _cited(read_report(text))] == [(A,), (B,)]


@pytest.mark.parametrize(
    "text",
    [
        "Take `a[0]` and x[1].",
        f"R² is 10⁶, x^2 of m<sup>2</sup>.\n\n## Sources\n1. {A}\n2. {A}\n3. {A}\n4. {A}\n5. {A}\n6. {A}",
        "```\nhttps://example.org [1]\n```\nText.",
        f"![picture]({A}) Text.",
    ],
)
def test_what_cites_nothing(text: str) -> None:
    report = read_report(text)
    assert report.citations == ()
    assert not any(statement.passages for statement in report.statements())


def test_marks_of_an_entry_with_many_addresses_do_not_carry_them_all_each() -> None:
    listed = " ".join(f"http://a.test/{n}" for n in range(400))
    text = "\n\n".join(f"Word{n} is old [1]." for n in range(400)) + f"\n\n## References\n\n[1] {listed}\n"
    assert 400 <= sum(len(citation.ids) for citation in read_report(text).citations) <= 20 * 400
