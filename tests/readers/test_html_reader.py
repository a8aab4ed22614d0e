import pytest

from claimcheck.text.sentences import sentences
from deep_research.data import Document
from deep_research.readers.html import HtmlReader
from deep_research.text.passages import cut_passages


def read(html: str | bytes) -> Document:
    data = html if isinstance(html, bytes) else html.encode()
    document = HtmlReader().read(data, name="page.html")
    for heading in document.headings:
        line = f"{'#' * heading.level} {heading.title}"
        assert document.text[heading.start :].split("\n")[0] == line
    return document


def body(html: str) -> str:
    return read(f"<html><head><title>T</title></head><body>{html}</body></html>").text


FILLER = "<p>" + "This paragraph is long enough to count as the text of a page. " * 4 + "</p>"


def test_a_title_of_megabytes_is_a_title_no_more() -> None:
    assert len(read(f"<title>{'Bridge ' * 100_000}</title>{FILLER}").title) <= 1_000


SPHINX = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>queue — Queues &#8212; Docs 1.0</title></head><body>
<div class="related" role="navigation"><h3>Navigation</h3><ul><li><a href="x">index</a></li></ul></div>
<div class="document"><div class="body" role="main"><section id="comments">
<h1>queue — Queues<a class="headerlink" href="#q" title="Permalink">¶</a></h1>
<p>The module implements queues that many
producers and consumers can use, see <a class="reference" href="t.html"><code><span class="pre">threading</span></code></a>.
It has been part of the library for a very long time and is used by other modules.</p>
<dl class="py class"><dt class="sig sig-object py" id="queue.Queue"><em class="property">class </em><span>queue.</span><span>Queue</span>
<span class="sig-paren">(</span><em>maxsize=0</em><span class="sig-paren">)</span><a class="headerlink" href="#queue.Queue">¶</a></dt>
<dd><p>A queue in which the first comes out first.</p>
<dl class="py method"><dt class="sig sig-object py">Queue.put(item)<a class="headerlink" href="#p">¶</a></dt><dd><p>Put an item in.</p></dd></dl>
</dd></dl>
<div class="admonition seealso"><p class="admonition-title">See also</p><p>The module heapq.</p></div>
</section></div></div>
<div class="sphinxsidebar"><h3>This Page</h3><ul><li>Show Source</li></ul></div><div class="footer">Copyright</div></body></html>"""


def test_sphinx_page():
    document = read(SPHINX)
    assert document.title == "queue — Queues"
    assert [(h.level, h.title) for h in document.headings] == [
        (1, "queue — Queues"),
        (2, "class queue.Queue (maxsize=0)"),
        (3, "Queue.put(item)"),
    ]
    assert "see threading. It has been" in document.text
    assert "See also:\n\nThe module heapq." in document.text
    for furniture in ("¶", "Navigation", "This Page", "Copyright"):
        assert furniture not in document.text
    assert "A queue in which the first comes out first." in [
        document.text[s.start : s.end] for s in sentences(document.text)
    ]
    assert any("queue.Queue (maxsize=0) > Queue.put(item)" in piece.heading for piece in cut_passages(document))


def test_table_with_spans_and_header():
    text = body(
        "<table><thead><tr><th>City</th><th>Year</th><th>People</th></tr></thead><tbody>"
        "<tr><td rowspan=2>Rome</td><td>1900</td><td>0.4&nbsp;M</td></tr><tr><td>2000</td><td>2.5 M</td></tr>"
        "<tr><td colspan=2>all | both</td><td><p>2.9 M</p><p>sum</p></td></tr></tbody></table>" + FILLER
    )
    assert text.startswith(
        "| City | Year | People |\n| --- | --- | --- |\n| Rome | 1900 | 0.4 M |\n| Rome | 2000 | 2.5 M |\n"
        "| all \\| both |  | 2.9 M sum |"
    )


BOXED = "The gate of the harbour is opened at dawn, and nobody may pass it before the keeper has waved his lamp."
SHOWN = {
    "a box as of DocBook is no table": (
        f'<table><tr><td rowspan="2"><img src="hint.png"></td><th>Hint</th></tr><tr><td>{BOXED}</td></tr></table>',
        f"Hint\n\n{BOXED}",
    ),
    "nested and numbered lists": (
        "<ol start=3><li>three<ul><li>deep</li></ul></li><li><p>four</p><p>more</p></li></ol>",
        "3. three\n  - deep\n4. four\n\nmore",
    ),
    "exponents keep the number and marks of notes vanish": (
        '<p>About 10<sup>6</sup> H<sub>2</sub>O on the 1<sup>st</sup>.<sup><a href="#n1">[1]</a></sup></p>',
        "About 10^6 H2O on the 1st.",
    ),
    "code cannot end its fence": ("<pre>a\n```\nb</pre><p>after</p>", "```\na\n    ```\nb\n```\n\nafter"),
    "links within a text stay": (
        "<p>See <a href='a'>Alpha</a> / <a href='b'>Beta</a>.</p><p><a href='a'>Alpha</a>, <a href='b'>Beta</a></p>",
        "See Alpha / Beta.\n\nAlpha, Beta",
    ),
    "characters that hide or turn text are removed": (
        "<p>ad\u200bmin \u202eevil\u202c e\u0301 \U000e0041\U000e0042x\ufeff\x07</p>",
        "admin evil é x",
    ),
}


@pytest.mark.parametrize("case", SHOWN)
def test_what_stands_behind_other_text_is_shown_so(case: str) -> None:
    html, shown = SHOWN[case]
    assert body(FILLER + html) == f"{body(FILLER)}\n\n{shown}"


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>SECRET</p>",
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        '<span style="font-size:0">SECRET</span>',
        "<nav>SECRET</nav>",
        '<div class="cookie-banner" role="dialog">SECRET</div>',
        '<ul class="breadcrumbs"><li>SECRET</li></ul>',
        "<p><a href='/'>SECRET</a> » <a href='/g'>SECRET</a> » SECRET</p>",
    ],
)
def test_what_is_not_the_text_is_dropped_and_what_follows_it_stays(hidden: str):
    text = body(f"{FILLER}<div>before {hidden} after\x1b</div>")
    assert "SECRET" not in text
    assert "before" in text
    assert "after" in text


def test_an_article_in_a_wrapper_called_sponsored_stays_when_it_is_the_main_text():
    links = "".join(f"<li><a href='/{n}'>Another story with a long headline, number {n}</a></li>" for n in range(12))
    told = "<p>The valve of the new pump opens at 77 bar and closes at 60 bar.</p>" * 8
    boxed = "<div class='sponsored'><p>Buy a pump today, cheaper than ever.</p></div>"
    page = (
        f"<html><head><title>Pumps</title></head><body><div class='sidebar'><ul>{links}</ul></div>"
        f"<div class='sponsored-content'><h1>Pumps</h1>{told}</div><div class='comments-area'>{told.upper()}</div></body>"
    )
    text = HtmlReader().read(page.encode(), name="x.html").text
    assert "opens at 77 bar" in text
    assert "OPENS AT 77 BAR" not in text
    assert "Another story" not in text
    plain = f"<html><body><h1>Pumps</h1>{told}{boxed}</body></html>"
    assert "cheaper than ever" not in HtmlReader().read(plain.encode(), name="x.html").text


def test_metadata():
    document = read(
        '<html><head><title>Big news - The Paper</title><meta property="article:published_time" content="2021-03-04T05:06Z">'
        '<meta name="author" content="A. Writer"></head><body><h1>Big news</h1>' + FILLER
    )
    assert (document.title, document.published, document.authors) == ("Big news", "2021-03-04", ("A. Writer",))


def test_metadata_from_json_ld():
    document = read(
        '<html><head><title>X</title><script type="application/ld+json">{"@graph": [{"@type": "Article",'
        '"datePublished": "2020-02", "author": [{"name": "Ann"}, {"name": "Bob"}]}]}</script></head><body>' + FILLER
    )
    assert (document.published, document.authors) == ("2020-02", ("Ann", "Bob"))


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "人工智能是计算机科学的一个分支，研究如何让机器完成需要人类智能的任务。"),
        ("shift_jis", "人工知能は計算機科学の一分野であり、機械に知的な作業をさせる研究である。"),
        ("euc_kr", "인공지능은 컴퓨터 과학의 한 분야로, 기계가 지능적인 일을 하도록 연구한다."),
        ("utf-16", "Ответ находится в тексте страницы."),
    ],
)
@pytest.mark.parametrize("declared", [True, False])
def test_encodings(encoding: str, text: str, declared: bool):
    meta = f'<meta charset="{encoding}">' if declared and encoding != "utf-16" else ""
    page = f"<html><head>{meta}<title>x</title></head><body><p>{text * 3}</p></body></html>"
    assert text in read(page.encode(encoding)).text


@pytest.mark.parametrize("depth", [300, 5_000])
def test_deep_nesting_keeps_the_text(depth: int):
    html = "<html><body>" + "<div>" * depth + "<p>deep text</p>" + "</div>" * depth + "<p>after it</p></body></html>"
    text = read(html).text
    assert "deep text" in text
    assert "after it" in text


def test_many_unclosed_tags_and_attributes_end():
    text = read("<p " + "a=1 " * 50_000 + ">x" + "<li>y" * 20_000 + "<" * 10_000).text
    assert text.count("y") == 20_000


@pytest.mark.parametrize("html", ["   ", "<html><body><script>x</script></body></html>"])
def test_page_without_text_is_empty(html: str):
    assert read(html).text == ""


def test_a_list_of_the_page_s_own_headings_is_left_out_whatever_it_is_called():
    entries = "".join(f'<div class="x1"><a href="#h{n}">{n}. Part {n}</a></div>' for n in range(1, 5))
    parts = "".join(f'<h2 id="h{n}"><span>{n}. </span>Part {n}</h2>{FILLER}' for n in range(1, 5))
    text = body(f"<div class=box><div>Table of contents</div>{entries}</div>{parts}")
    assert text.count("Part 2") == 1
    assert "Table of contents" not in text


def test_a_sentence_and_a_list_with_links_to_other_things_stay():
    parts = "".join(f'<h2 id="h{n}">Part {n}</h2>{FILLER}' for n in range(1, 5))
    links = ", ".join(f'<a href="#h{n}">Part {n}</a>' for n in range(1, 5))
    assert "There are Part 1, Part 2" in body(f"<p>There are {links}.</p>{parts}")
    assert "Option 2" in body(
        "<ul>" + "".join(f'<li><a href="#o{n}">Option {n}</a></li>' for n in range(1, 5)) + f"</ul>{parts}"
    )
