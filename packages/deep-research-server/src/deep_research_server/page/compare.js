// Two runs side by side: what both say, what only one says, and on which sources each rests.

import { api } from "./api.js";
import { fill, h, heading, icon } from "./dom.js";
import { current, duration, moment, money, number, t } from "./i18n.js";
import { terms } from "./claims.js";
import { Evidence, claimText } from "./evidence.js";

const ALIKE = 0.5;

export class CompareView {
  constructor({ main }, one, other) {
    Object.assign(this, { main, ids: [one, other] });
  }

  async show() {
    document.title = `${t("comparison")} · deep-research`;
    const [runs, reports] = await Promise.all([Promise.all(this.ids.map(api.run)), Promise.all(this.ids.map((id) => api.report(id, current())))]);
    this.panels = this.ids.map((id) => new Evidence(id));
    const words = reports.map((report) => report.claims.filter((claim) => claim.passages.length && ["supported", "unverified"].includes(claim.verdict.kind)).map((claim) => ({ claim, terms: wordsOf(claim.text) })));
    const pairs = [];
    const taken = new Set();
    for (const left of words[0]) {
      let best = null;
      for (const right of words[1]) {
        if (taken.has(right)) continue;
        const score = overlap(left.terms, right.terms);
        if (score >= ALIKE && (!best || score > best.score)) best = { right, score };
      }
      if (best) { taken.add(best.right); pairs.push([left.claim, best.right.claim]); } else pairs.push([left.claim, null]);
    }
    for (const right of words[1]) if (!taken.has(right)) pairs.push([null, right.claim]);
    const both = pairs.filter(([a, b]) => a && b);
    const first = pairs.filter(([, b]) => !b);
    const second = pairs.filter(([a]) => !a);
    const addresses = reports.map((report) => new Map(report.references.map((one) => [one.url || one.location || one.title, one.title])));
    const shared = [...addresses[0]].filter(([key]) => addresses[1].has(key));
    fill(this.main, h("div", { class: "run compare" }, h("header", { class: "run-head" }, h("p", { class: "eyebrow" }, icon("columns", 16), t("comparison")), heading(runs[0].question, runs[0].language)),
      h("div", { class: "two heads" }, reports.map((report, at) => this.summary(runs[at], report, at))),
      both.length > 0 && h("section", {}, h("h2", {}, t("both_say", { n: both.length })), both.map(([a, b]) => h("div", { class: "two" }, this.cell(a, 0), this.cell(b, 1)))),
      h("section", { class: "two" }, [[first, "A"], [second, "B"]].map(([pairs, name], at) => h("div", { class: "column" }, h("h2", {}, t("only_in", { name, n: pairs.length })), pairs.map((pair) => this.cell(pair[at], at))))),
      h("section", {}, h("h2", {}, t("sources")), h("div", { class: "two" }, [0, 1].map((at) => h("ul", { class: "plain" }, [...addresses[at]].map(([key, title]) => h("li", { class: addresses[1 - at].has(key) ? "shared" : "" }, title, addresses[1 - at].has(key) && h("small", { class: "badge" }, t("shared"))))))), h("p", { class: "hint" }, t("shared_sources", { n: shared.length })))), this.panels.map((panel) => panel.element));
  }

  summary(run, report, at) {
    const { supported, total, own } = report.counts;
    return h("a", { class: "card", href: `#/runs/${run.id}` }, h("span", { class: "letter" }, "AB"[at]), h("strong", {}, report.title), h("small", {}, moment(run.created)),
      h("dl", { class: "counts" }, [["statements_supported", `${number(supported)}/${number(total - own)}`], ["sources_cited", number(report.references.length)], ["ledger_seconds_spent", duration(report.ledger.seconds)], ["cost", money(report.ledger.cost_usd)]].map(([name, value]) => h("div", {}, h("dt", {}, t(name)), h("dd", {}, value)))));
  }

  cell(claim, at) {
    return h("button", { type: "button", class: "side", onclick: () => { this.panels[1 - at].hide(); this.panels[at].openClaim(claim, "AB"[at]); } }, h("p", {}, claimText(claim)));
  }

  close() { this.panels?.forEach((panel) => panel.close()); }
}

const wordsOf = (text) => new Set(terms(text).filter((word) => word.length > 2 || /\d|[^\x00-\x7f]/.test(word)));

function overlap(a, b) {
  let shared = 0;
  for (const word of a) if (b.has(word)) shared++;
  return shared / Math.max(1, a.size + b.size - shared);
}
