// The other sides of a report: its statements one by one, its sources, what disagrees, figures of verified numbers.

import { api } from "./api.js";
import { fill, h, icon, s } from "./dom.js";
import { named, number, t } from "./i18n.js";
import { claimText, kindBadge, openSnapshot, passageOf, sourceFacts, verdictBadge } from "./evidence.js";
import { anchor, inline } from "./markdown.js";

export async function statements(view) {
  const { claims, contradictions } = view.report;
  const groups = new Map();
  for (const claim of claims) {
    const name = claim.section || t("summary");
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(claim);
  }
  const parts = view.report.parts;
  view.text ??= null;
  return [view.filters(), parts.length > 0 && h("section", {}, h("h2", {}, t("parts_of_question")), h("ul", { class: "parts" }, parts.map((part) => h("li", { class: `answered-${part.answered}` }, icon({ yes: "check", no: "limit" }[part.answered] ?? "question", 16), h("span", {}, part.text), h("small", {}, t(`answered_${part.answered}`)))))),
    contradictions.length > 0 && h("section", {}, h("h2", {}, t("disagreements")), contradictions.map((one) => disagreement(one, view))),
    [...groups].map(([name, own]) => h("section", {}, h("h2", {}, name), h("ul", { class: "statements" }, own.map((claim) => h("li", { class: "statement", data: { claim: claim.id, kind: claim.kind, verdict: claim.verdict.kind }, hidden: view.off.has(claim.kind) || view.off.has(claim.verdict.kind) },
      h("button", { type: "button", onclick: () => view.openClaim(claim.id) }, h("span", { class: "statement-text" }, claimText(claim.text)), h("span", { class: "badges" }, claim.kind !== "fact" && kindBadge(claim.kind), verdictBadge(claim.verdict.kind), h("small", {}, t("n_passages", { n: claim.passages.length }))))))))) ,
    view.report.gaps.length > 0 && h("section", {}, h("h2", {}, t("gaps")), h("ul", { class: "gaps" }, view.report.gaps.map((gap) => h("li", {}, h("strong", {}, gap.what), h("span", {}, gap.why)))))];
}

function disagreement(one, view) {
  return h("article", { class: "disagreement" }, one.topic && h("h3", {}, one.topic), h("div", { class: "sides" }, one.sides.map((side) => {
    const where = h("div", { class: "side-source" });
    if (side.passages[0]) passageOf(view.run.id, side.passages[0]).then((passage) => fill(where, h("strong", {}, passage.source.title), sourceFacts(passage.source)), () => {});
    return h("button", { type: "button", class: "side", onclick: () => view.evidence.openPassages(side.passages, side.statement) }, h("p", {}, inline(side.statement)), where);
  })), one.prevails && h("p", { class: "prevails" }, icon("scale", 16), one.prevails));
}

export async function sources(view) {
  const list = await api.sources(view.run.id);
  const cited = list.filter((one) => one.cited).sort((a, b) => b.cited - a.cited);
  const others = list.filter((one) => !one.cited);
  const numbers = new Map(view.report.references.map((one) => [one.source, one.number]));
  const claimsOf = (source) => view.report.claims.filter((claim) => claim.passages.some((key) => key.startsWith(`${source}p`)));
  const sites = new Set(cited.filter((one) => one.url).map((one) => new URL(one.url).hostname));
  const years = cited.map((one) => Number(one.date.slice(0, 4))).filter(Boolean).sort();
  const card = (one) => {
    const own = claimsOf(one.id);
    return h("li", { class: "source-card" }, h("span", { class: "source-number" }, numbers.get(one.id) ?? "–"), h("div", {},
      h("h3", {}, one.url ? anchor(one.url, one.title) : one.title), sourceFacts(one), one.authors.length > 0 && h("p", { class: "hint" }, one.authors.slice(0, 6).join(", ")),
      h("p", { class: "badges" }, one.origin !== "documents" && h("span", { class: "badge" }, t("found_by", { name: named("source", one.origin) })), /pdf|word|presentation|sheet/.test(one.media_type) && h("span", { class: "badge" }, /pdf/.test(one.media_type) ? "PDF" : "Office"), own.length > 0 && h("span", { class: "badge verdict-supported" }, t("carries_n", { n: own.length })))),
    h("div", { class: "source-tools" }, own.length > 0 && h("button", { type: "button", class: "chip", onclick: () => view.openClaim(own[0].id) }, icon("quote", 14), t("statements")), h("button", { type: "button", class: "chip", onclick: () => whole(view.run.id, one) }, icon("book", 14), t("in_snapshot"))));
  };
  return [h("dl", { class: "ledger" }, [["sources_cited", cited.length], sites.size > 0 && ["independent_sites", sites.size], years.length > 0 && ["dates", years[0] === years.at(-1) ? String(years[0]) : `${years[0]}–${years.at(-1)}`], ["sources_read", list.length]].filter(Boolean).map(([name, n]) => h("div", {}, h("dt", {}, t(name, { n })), h("dd", {}, typeof n === "number" ? number(n) : n)))),
    years.length > 2 && spread(years), h("ol", { class: "source-list" }, cited.map(card)),
    others.length > 0 && h("details", { class: "more" }, h("summary", {}, icon("chevron", 14), t("read_not_cited", { n: others.length })), h("ol", { class: "source-list" }, others.map(card)))];
}

async function whole(run, source) {
  openSnapshot(run, { source, start: 0, end: 0, text: "", is_current: true });
}

// How old the cited sources are: a mark a source on a line of years.
function spread(years) {
  const [first, last] = [years[0], Math.max(years.at(-1), years[0] + 1)];
  const x = (year) => 20 + (560 * (year - first)) / (last - first);
  const seen = new Map();
  return s("svg", { class: "spread", viewBox: "0 0 600 64", role: "img", "aria-label": t("dates_label", { list: years.join(", ") }) },
    s("line", { x1: 20, x2: 580, y1: 44, y2: 44, class: "axis-line" }),
    years.map((year) => { const n = seen.get(year) ?? 0; seen.set(year, n + 1); return s("circle", { cx: x(year), cy: 38 - n * 9, r: 4, class: "spread-dot" }); }),
    [first, last].map((year) => s("text", { x: x(year), y: 60, class: "axis-text", "text-anchor": "middle" }, year)));
}

export async function figures(view) {
  const made = await api.figures(view.run.id);
  if (!made.length) return h("div", { class: "empty" }, icon("chart", 32), h("p", {}, t("no_figures")));
  return h("div", { class: "figures" }, made.map((one) => ({ timeline, line: course, bar: bars })[one.kind](one, view)));
}

function openPoint(view, point) {
  if (view.byId.has(point.claim)) view.openClaim(point.claim, point.passages);
  else view.evidence.openPassages(point.passages);
}

function bars(one, view) {
  const most = Math.max(...one.points.map((point) => Math.abs(point.value)));
  return h("figure", { class: "figure" }, h("figcaption", {}, h("strong", {}, one.title), one.unit && h("small", {}, one.unit)),
    h("ol", { class: "bars" }, one.points.map((point) => h("li", {}, h("button", { type: "button", "aria-label": `${point.label}: ${point.display}. ${t("open_evidence")}`, onclick: () => openPoint(view, point) },
      h("span", { class: "bar-label" }, point.label), h("span", { class: "bar-track" }, h("span", { class: "bar-fill", css: { "inline-size": `${Math.max(1, (100 * Math.abs(point.value)) / most)}%` } })), h("span", { class: "bar-value" }, point.display))))),
    h("p", { class: "hint" }, t("figure_note", { n: one.points.length })));
}

// Values over years: a line whose points are buttons below it, for those who cannot use the drawing.
function course(one, view) {
  const [width, height, edge] = [640, 230, 44];
  const years = one.points.map((point) => point.at);
  const [first, last] = [Math.min(...years), Math.max(...years)];
  const most = Math.max(...one.points.map((point) => point.value), 0);
  const least = Math.min(...one.points.map((point) => point.value), 0);
  const x = (year) => edge + ((width - 2 * edge) * (year - first)) / Math.max(1, last - first);
  const y = (value) => height - 30 - ((height - 62) * (value - least)) / (most - least || 1);
  return h("figure", { class: "figure" }, h("figcaption", {}, h("strong", {}, one.title), one.unit && h("small", {}, one.unit)),
    s("svg", { viewBox: `0 0 ${width} ${height}`, class: "course", "aria-hidden": "true" },
      s("line", { x1: edge, x2: width - edge, y1: y(0), y2: y(0), class: "axis-line" }),
      s("polyline", { points: one.points.map((point) => `${x(point.at)},${y(point.value)}`).join(" "), class: "course-line" }),
      one.points.map((point) => [s("circle", { cx: x(point.at), cy: y(point.value), r: 5, class: "spread-dot", onclick: () => openPoint(view, point) }),
        s("text", { x: x(point.at), y: y(point.value) - 12, class: "value-text", "text-anchor": "middle" }, point.display), s("text", { x: x(point.at), y: height - 10, class: "axis-text", "text-anchor": "middle" }, point.at)])),
    h("ol", { class: "dated" }, one.points.map((point) => h("li", {}, h("button", { type: "button", onclick: () => openPoint(view, point) }, h("time", {}, point.at), h("span", {}, point.display))))),
    h("p", { class: "hint" }, t("figure_note", { n: one.points.length })));
}

function timeline(one, view) {
  const values = one.points.map((point) => point.value);
  const [first, last] = [Math.min(...values), Math.max(...values)];
  const width = 640;
  const x = (value) => 30 + ((width - 60) * (value - first)) / Math.max(1, last - first);
  return h("figure", { class: "figure" }, h("figcaption", {}, h("strong", {}, t("figure_timeline"))),
    s("svg", { viewBox: `0 0 ${width} 54`, class: "time-axis", "aria-hidden": "true" }, s("line", { x1: 30, x2: width - 30, y1: 24, y2: 24, class: "axis-line" }),
      one.points.map((point) => s("circle", { cx: x(point.value), cy: 24, r: 6, class: "spread-dot" })), [first, last].map((value) => s("text", { x: x(value), y: 48, class: "axis-text", "text-anchor": "middle" }, value))),
    h("ol", { class: "dated" }, one.points.map((point) => h("li", {}, h("button", { type: "button", onclick: () => openPoint(view, point) }, h("time", {}, point.display), h("span", {}, inline(point.label)))))),
    h("p", { class: "hint" }, t("figure_note", { n: one.points.length })));
}

