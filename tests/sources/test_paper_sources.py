"""Papers, trials and patents: what becomes of markup, labels, dates and identifiers."""

import json

import pytest

from deep_research.errors import NotFound, RateLimited, SourceError, Unreachable, Unreadable
from deep_research.sources import clinicaltrials, patents, pubmed
from deep_research.sources._papers import arxiv_id, doi, work_key
from deep_research.sources.paper_indexes import parse_arxiv
from tests.sources.answers import ScriptedClient, answer, bodies, opened

FEED = '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">{}</feed>'
ERROR = "<entry><id>https://arxiv.org/api/errors#x</id><title>Error</title><summary>{}</summary></entry>"


def one(source, parse, kind="one", word=""):
    return parse(answer(bodies(source, kind)[word]))[0]


def test_arxiv_paper():
    found = one("arxiv", parse_arxiv)
    assert (found.key, found.url) == ("arxiv:2401.00001", "https://arxiv.org/abs/2401.00001v2")
    assert found.title == "Retrieval of passages with sparse terms"
    assert (found.published, found.authors) == ("2024-01-01", ("Ada Example", "Bo Sample"))
    text = found.document.text
    assert "We study retrieval & ranking. It works for x < 3." in text
    assert "- DOI: 10.1234/example.5" in text
    assert "- Full text: https://arxiv.org/html/2401.00001v2, https://arxiv.org/pdf/2401.00001v2" in text


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize(
    ("why", "kind"), [("incorrect id format for abc", NotFound), ("start must be an integer", SourceError)]
)
def test_an_error_feed_of_arxiv_is_no_paper(status, why, kind):
    with pytest.raises(kind, match=why):
        parse_arxiv(answer(FEED.format(ERROR.format(why)), status))


def test_arxiv_called_too_often():
    with pytest.raises(RateLimited):
        parse_arxiv(answer("Rate exceeded.", 429))
    with pytest.raises(RateLimited):
        parse_arxiv(answer("Rate exceeded.", 200))
    promised = FEED.format("<opensearch:totalResults>7</opensearch:totalResults>")
    with pytest.raises(Unreachable, match="try again"):
        parse_arxiv(answer(promised))


async def test_arxiv_by_id_and_by_words():
    client = ScriptedClient(answer(bodies("arxiv", "one")[""]))
    source = opened("arxiv", client)
    await source.search("https://arxiv.org/abs/2401.00001v2", limit=5)
    assert client.calls[-1].params["id_list"] == "2401.00001"
    await source.search("What are the limits of chain-of-thought prompting?", limit=5)
    assert client.calls[-1].params["search_query"] == 'all:limits AND all:"chain-of-thought" AND all:prompting'


def test_pubmed_article():
    found = one("pubmed", pubmed.parse_articles, word="efetch")
    assert found.title == "[Uptake of E. coli by H2O.]"
    assert (found.key, found.published) == ("doi:10.1234/p.1", "1998-12")
    assert found.authors == ("Ada Example", "Sample Group")
    assert "## Background\n\nCells take up 10^6 units." in found.document.text
    assert "## Results\n\nP < 0.05." in found.document.text


def test_pubmed_errors_with_http_200():
    limited = {"error": "API rate limit exceeded", "count": "4", "limit": "3"}
    with pytest.raises(RateLimited):
        pubmed.parse_ids(answer(limited))
    with pytest.raises(RateLimited):
        pubmed.parse_articles(answer(limited))
    with pytest.raises(SourceError, match="Search Backend failed"):
        pubmed.parse_ids(answer({"esearchresult": {"ERROR": "Search Backend failed"}}))
    with pytest.raises(Unreadable):
        pubmed.parse_articles(answer("<eSpellResult/>"))


def test_trial_with_results():
    text = one("clinicaltrials", clinicaltrials.parse_studies).document.text
    assert "- Status: active not recruiting" in text
    assert "- Phase: phase 2, phase 3" in text
    assert "- Enrollment: 40 participants (estimated)" in text
    assert "- Ages: 18 Years and older" in text
    assert "## Eligibility\n\nInclusion Criteria:\n\n- Age > 18\n- Consent" in text
    assert "## Results: Recovery (primary outcome)" in text
    assert "- Drug (n = 20): median 10 Days (95% Confidence Interval 9 to 11)" in text
    assert "- P <0.001 (Log Rank)" in text
    assert "- Drug: all-cause deaths 1 of 20" in text


def test_patents_of_the_epo():
    found = one("patents_epo", patents.parse_epo_patents)
    assert (found.key, found.title, found.published) == ("patent:EP1000001", "Brick press", "2000-05-17")
    assert found.authors == ("EXAMPLE ADA",)
    assert "- Applicants: EXAMPLE AG" in found.document.text
    assert "## Abstract\n\nA press (1) for bricks." in found.document.text
    assert patents.parse_epo_patents(answer("<fault><code>SERVER.EntityNotFound</code></fault>", 404)) == []
    throttled = answer("<error/>", 403, {"x-throttling-control": "black (search=black:0)"})
    with pytest.raises(RateLimited):
        patents.parse_epo_patents(throttled)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("doi:10.1000/182).", "10.1000/182"),
        ("https://doi.org/10.1016%2Fj.x.2015.01.008", "10.1016/j.x.2015.01.008"),
    ],
)
def test_doi(text, name):
    assert doi(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("arXiv:2401.00001v3", "2401.00001"),
        ("https://arxiv.org/pdf/2401.00001v3.pdf", "2401.00001"),
        ("http://arxiv.org/abs/astro-ph/0601001v1", "astro-ph/0601001"),
        ("version 2401.00001 of it", ""),
    ],
)
def test_arxiv_id(text, name):
    assert arxiv_id(text) == name


def test_the_same_paper_has_the_same_key_from_every_source():
    assert work_key({"doi": "10.48550/arxiv.2401.00001"}) == work_key({"arxiv": "2401.00001", "doi": "10.1/x"})
    assert work_key({"doi": "10.1234/a", "pmid": "5"}) == "doi:10.1234/a"
    assert work_key({"pmid": "5"}) == "pmid:5"
    assert work_key({}, "https://example.org") == "https://example.org"


def test_a_body_with_an_entity_bomb_is_not_expanded():
    bomb = '<!DOCTYPE feed [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    body = bomb + FEED.format("<entry><id>http://arxiv.org/abs/2401.00001v1</id><title>&b;&f;</title></entry>")
    found = parse_arxiv(answer(body))
    assert "aaaa" not in json.dumps([one.title for one in found])
