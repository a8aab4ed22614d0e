// The other sides of a report: its statements one by one, its sources, what the verifier found and the writer changed.

import { api } from "./api.js";
import { h, icon } from "./dom.js";
import { named, number, t } from "./i18n.js";
import { claimText, openSnapshot, placeOf, sourceFacts, verdictBadge } from "./evidence.js";
import { anchor, inline } from "./markdown.js";

export async function statements(view) {
  const { claims } = view.report;
  const groups = new Map();
  for (const claim of claims) {
    const name = placeOf(claim).heading || t("summary");
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(claim);
  }
  const parts = view.report.parts;
  view.text ??= null;
  return [view.filters(), parts.length > 0 && h("section", {}, h("h2", {}, t("parts_of_question")), h("ul", { class: "parts" }, parts.map((part) => h("li", { class: `answered-${part.answered}` }, icon({ yes: "check", no: "limit" }[part.answered] ?? "question", 16), h("span", {}, part.text), h("small", {}, t(`answered_${part.answered}`)))))),
    [...groups].map(([name, own]) => h("section", {}, h("h2", {}, name), h("ul", { class: "statements" }, own.map((claim) => h("li", { class: "statement", data: { claim: claim.id, verdict: claim.verdict.kind }, hidden: view.off.has(claim.verdict.kind) },
      h("button", { type: "button", onclick: () => view.openClaim(claim.id) }, h("span", { class: "statement-text" }, claimText(claim)), h("span", { class: "badges" }, verdictBadge(claim.verdict.kind), claim.passages.length > 0 && h("small", {}, t("n_passages", { n: claim.passages.length }))))))))) ,
    view.report.gaps.length > 0 && h("section", {}, h("h2", {}, t("gaps")), h("ul", { class: "gaps" }, view.report.gaps.map((gap) => h("li", {}, h("strong", {}, gap.what), h("span", {}, gap.why)))))];
}

// What the verifier found, and what the writer changed of it, folded; nothing where it found nothing.
export function verification({ problems, edits }, cite) {
  if (!problems.length && !edits.length) return "";
  const said = (text) => inline(text, cite);
  const changes = edits.filter((one) => one.old); // without, it is a reply to a problem, which has it too
  return h("details", { class: "verification" }, h("summary", {}, icon("chevron", 14), t("verification"), h("small", {}, number(problems.length))),
    h("ol", { class: "problems" }, problems.map((one) => h("li", {}, one.quote && h("blockquote", {}, said(one.quote)),
      h("p", {}, h("span", { class: `badge problem-${one.kind}` }, t(`problem_${one.kind}`)), " ", said(one.problem)), one.evidence && h("p", {}, said(one.evidence)),
      h("p", { class: "hint" }, t(`outcome_${one.outcome}`), one.passages.map((key) => cite(key))), one.reply && h("p", {}, said(one.reply))))),
    changes.length > 0 && [h("h3", {}, t("changes_made")), h("ol", { class: "edits" }, changes.map((one) => h("li", {}, h("del", {}, said(one.old)), h("ins", {}, said(one.new)), !one.applied && h("p", { class: "hint" }, t("edit_failed")))))]);
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
    h("ol", { class: "source-list" }, cited.map(card)),
    others.length > 0 && h("details", { class: "more" }, h("summary", {}, icon("chevron", 14), t("read_not_cited", { n: others.length })), h("ol", { class: "source-list" }, others.map(card)))];
}

async function whole(run, source) {
  openSnapshot(run, { source, start: 0, end: 0, text: "", is_current: true });
}
