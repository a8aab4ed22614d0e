// A finished report: text whose statements open their evidence, filters, sources, how it came about, further questions.

import { api, follow, followUpEventsOf } from "./api.js";
import { announce, dialog, fill, folded, h, heading as title, icon, inSlices, menu } from "./dom.js";
import { current, duration, moment, money, named, number, t } from "./i18n.js";
import { drawChart } from "./charts.js";
import { ClaimMarks, VERDICTS, markedText, withoutMarks } from "./claims.js";
import { block, blocks, render } from "./markdown.js";
import { sources, statements, verification } from "./panels.js";
import { Evidence } from "./evidence.js";

function citeButton(reference, open) {
  return h("button", { type: "button", class: "cite", title: reference.title, "aria-label": t("citation_n", { n: reference.number, title: reference.title }), data: { source: reference.source },
    onclick: (event) => { event.stopPropagation(); open(event.currentTarget); } }, reference.number);
}

// Whether all that a paragraph says is the author's own.
function isOwn(paragraph) {
  const said = [...paragraph.querySelectorAll(".claim")];
  return said.length > 0 && said.every((span) => span.classList.contains("verdict-own"));
}

const TABS = ["report", "statements", "sources", "process"];
const DATA_HEADINGS = 2;
// To read, to calculate with, to cite with.
const FORMATS = [
  [["pdf", "PDF"], ["docx", "Word"], ["html", "HTML"], ["pptx", "PowerPoint"], ["markdown", "Markdown"]],
  [["xlsx", "Excel"], ["csv", "CSV"], ["json", "JSON"]],
  [["bibtex", "BibTeX"], ["ris", "RIS"], ["csl", "CSL-JSON"]],
];

export class ReportView {
  constructor(context, run, tab) {
    Object.assign(this, context, { run });
    this.tab = TABS.includes(tab) ? tab : "report";
    this.off = new Set();
    this.closers = [];
    this.stops = [];
  }

  async show() {
    document.title = `${this.run.title || this.run.question} · deep-research`;
    this.report = await api.report(this.run.id, current());
    this.byId = new Map(this.report.claims.map((claim) => [claim.id, claim]));
    this.byNumber = new Map(this.report.references.map((one) => [String(one.number), one]));
    this.evidence = new Evidence(this.run.id, { onClose: () => this.select(null), steps: (by) => this.step(by) });
    this.body = h("div", { class: "tab-body", id: "tab-body", role: "tabpanel", tabindex: "-1" });
    this.further = h("section", { class: "further", "aria-label": t("follow_ups") });
    fill(this.main, h("div", { class: "run reported" }, this.head(), this.trust(), this.tabs(), this.body, this.further), this.evidence.element);
    await this.drawTab();
    await this.drawFurther();
  }

  head() {
    const again = menu(h("button", { type: "button", class: "ghost", "aria-label": t("more") }, "⋯"), () => [
      { text: t("compare_with"), icon: "columns", run: () => this.chooseComparison() },
      { text: t("refresh"), icon: "clock", run: () => this.begin(() => api.refresh(this.run.id)) },
      { text: t("delete"), icon: "trash", danger: true, run: () => this.remove() }], t("more"));
    const offered = new Map(this.options.exports.map((one) => [one.name, one]));
    const known = FORMATS.map((group) => group.filter(([name]) => offered.has(name)).map(([name, text]) => ({ text, note: t(`export_${name}`), run: () => this.download(name) })));
    const others = [...offered.values()].filter((one) => !FORMATS.flat().some(([name]) => name === one.name)).map((one) => ({ text: one.name, note: one.purpose, run: () => this.download(one.name) }));
    const formats = [...known, others].filter((group) => group.length).flatMap((group, at) => (at ? [{ isLine: true }, ...group] : group));
    const exports_ = menu(h("button", { type: "button", class: "button quiet" }, icon("download", 16), t("export")), formats, t("export"));
    return h("header", { class: "run-head" }, title(this.report.title, this.report.language),
      this.report.title.replace(/[\s?.\uff1f\u3002]/g, "") !== this.run.question.replace(/[\s?.\uff1f\u3002]/g, "") && folded(this.run.question, { class: "asked-line", lang: this.run.language }),
      h("div", { class: "run-facts" }, h("span", {}, moment(this.run.created)), h("span", {}, icon("clock", 15), duration(this.report.ledger.seconds)), this.run.parent && h("a", { href: `#/runs/${this.run.parent}` }, t(`from_${this.run.origin}`)), this.run.origin === "refresh" && h("button", { type: "button", class: "chip", onclick: () => this.showChanges() }, t("what_changed")),
        h("span", {}, this.report.ledger.model_calls ? [t("n_calls", { n: this.report.ledger.model_calls }), this.report.ledger.cost_usd !== 0 && ` · ${money(this.report.ledger.cost_usd)}`] : t("without_model")), h("div", { class: "head-buttons" }, exports_, again)));
  }

  // What a reader should know before the first sentence: how many statements were checked, and what became of them.
  trust() {
    const { counts, parts, gaps, references, reasoner, workflow } = this.report;
    const isJudged = reasoner.kind !== "finder" || workflow === "verify" || workflow === "desk";
    const cited = counts.total - counts.own;
    const answered = parts.filter((part) => part.answered === "yes");
    const fact = (n, of, name) => h("div", {}, h("dd", {}, number(n), of !== undefined && h("small", {}, `/${number(of)}`)), h("dt", {}, t(name, { n })));
    return h("section", { class: "trust", "aria-label": t("trust") },
      isJudged && h("div", { class: "trust-bar", role: "img", "aria-label": t("supported_of", { n: counts.supported, of: cited }) }, VERDICTS.filter((kind) => kind !== "own" && counts[kind]).map((kind) => h("span", { class: `trust-${kind}`, css: { "flex-grow": counts[kind] } }))),
      h("dl", {}, isJudged && fact(counts.supported, cited, "statements_supported"), isJudged && fact(counts.own, undefined, "trust_own"), fact(references.length, undefined, "sources_cited"),
        parts.length > 0 && fact(answered.length, parts.length, "parts_answered"), fact(gaps.length, undefined, "trust_gaps")));
  }

  tabs() {
    const counts = { statements: this.report.claims.length, sources: Object.keys(this.report.sources).length };
    this.tabButtons = TABS.map((name) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "tab-body", "aria-selected": String(name === this.tab), tabindex: name === this.tab ? "0" : "-1", onclick: () => this.go(name),
      onkeydown: (event) => { const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]; if (by) { const to = TABS[(TABS.indexOf(this.tab) + by + TABS.length) % TABS.length]; this.go(to); this.tabButtons[TABS.indexOf(to)].focus(); } } },
    t(`tab_${name}`), counts[name] !== undefined && h("small", {}, number(counts[name]))));
    return h("div", { class: "tabs", role: "tablist", "aria-label": t("report_parts") }, this.tabButtons);
  }

  async go(name) {
    this.tab = name;
    history.replaceState(null, "", `#/runs/${this.run.id}${name === "report" ? "" : `/${name}`}`);
    for (const [at, button] of this.tabButtons.entries()) { button.setAttribute("aria-selected", String(TABS[at] === name)); button.tabIndex = TABS[at] === name ? 0 : -1; }
    await this.drawTab();
  }

  async drawTab() {
    this.closers.splice(0).forEach((close) => close());
    this.body.setAttribute("aria-labelledby", `tab-${this.tab}`);
    this.body.className = `tab-body tab-${this.tab}`;
    if (this.tab === "report") return this.drawReport();
    if (this.tab === "process") {
      const { ProcessTab } = await import("./process.js");
      const made = new ProcessTab(this.run, this.report);
      this.closers.push(() => made.close());
      return fill(this.body, made.element);
    }
    fill(this.body, await { statements, sources }[this.tab](this));
  }

  async drawReport() {
    if (this.reportBody) {
      fill(this.body, this.reportBody);
      this.filter();
      return this.watchOutline(this.reportBody[0]);
    }
    const marks = new ClaimMarks(this.report.claims, (id) => this.openClaim(id));
    this.marks = marks;
    const cite = (key) => this.citation(key);
    const chart = (text) => this.chart(this.report, text);
    const text = h("article", { class: "prose report-text", lang: this.report.language });
    const outline = h("ol");
    this.reportBody = [h("nav", { class: "outline", "aria-label": t("contents") }, h("h2", {}, t("contents")), outline), h("div", { class: "report-main" }, this.filters(), text, verification(this.report, cite))];
    fill(this.body, this.reportBody);
    let holder = text;
    await inSlices(blocks(markedText(this.report)), (one) => {
      if (!text.isConnected) return;
      if (one.type === "heading" && one.level === 1 && !text.childElementCount) return; // it stands above already
      if (one.type === "heading" && one.level <= DATA_HEADINGS) {
        holder = text.appendChild(h("section", { class: "report-frame" }));
        const heading = block(one, cite);
        marks.mark(heading);
        heading.id = `h${outline.childElementCount}`;
        heading.tabIndex = -1;
        outline.append(h("li", {}, h("a", { href: `#/runs/${this.run.id}`, onclick: (event) => { event.preventDefault(); heading.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" }); heading.focus({ preventScroll: true }); } }, heading.textContent)));
        holder.append(heading);
        return;
      }
      // The question stands above the report already.
      if (holder === text && one.type === "paragraph" && one.lines.join(" ").endsWith(this.run.question)) return;
      const made = block(one, cite, chart);
      holder.append(made);
      // What holds no statement stands around the report: its sources, gaps, and how it was checked.
      if (marks.mark(made) && holder !== text) holder.className = "report-section";
      if (made.tagName === "P" && isOwn(made)) made.classList.add("own");
    });
    this.text = text;
    this.filter();
    this.watchOutline(outline);
  }

  chart(report, text) {
    const figure = report.charts[withoutMarks(text).replace(/\n+$/, "")];
    return figure && drawChart(figure, (passages) => { this.select(null); this.evidence.openPassages(passages.filter((key) => report.passages[key]), figure.title); });
  }

  watchOutline(outline) {
    const links = [...outline.querySelectorAll("a")];
    // The parts, not their headings: what lies in a part that is not shown yet would have to be laid out first.
    const headings = links.map((_, at) => this.text.querySelector(`#h${at}`)?.parentElement);
    const look = () => {
      const at = headings.findLastIndex((heading) => heading?.getBoundingClientRect().top < innerHeight * 0.3);
      links.forEach((link, place) => link.toggleAttribute("aria-current", place === Math.max(0, at)));
    };
    const watcher = new IntersectionObserver(look, { threshold: [0, 1], rootMargin: "-10% 0px -60% 0px" });
    headings.forEach((heading) => heading && watcher.observe(heading));
    addEventListener("scrollend", look);
    this.closers.push(() => { watcher.disconnect(); removeEventListener("scrollend", look); });
  }

  // The button of a citation, by the number of its source or by the id of a passage.
  citation(key) {
    const reference = this.byNumber.get(key) ?? this.report.references.find((one) => one.passages.includes(key));
    if (!reference) return this.report.passages[key] ? "" : `[${key}]`;
    return citeButton(reference, (button) => this.openCitation(button, reference, key));
  }

  openCitation(button, reference, key) {
    const claim = this.byId.get(button.dataset.claim);
    if (claim) return this.openClaim(claim.id, claim.passages.filter((one) => reference.passages.includes(one)));
    this.select(null);
    this.evidence.openPassages(this.report.passages[key] ? [key] : reference.passages, button.closest("p, li, td")?.textContent ?? "");
  }

  openClaim(id, prefer = []) {
    const claim = this.byId.get(id);
    if (!claim) return;
    this.select(id);
    const order = this.order();
    const problems = this.report.problems.filter((one) => one.claim === id);
    this.evidence.openClaim(claim, `${number(order.indexOf(id) + 1)} / ${number(order.length)}`, { prefer, problems });
  }

  order() {
    return this.report.claims.map((claim) => claim.id).filter((id) => !this.off.has(this.byId.get(id).verdict.kind));
  }

  step(by) {
    const order = this.order();
    const at = order.indexOf(this.selected);
    const next = order[(at + by + order.length) % order.length];
    if (!next) return;
    this.openClaim(next);
    this.marks?.marked.get(next)?.[0].scrollIntoView({ block: "center" });
  }

  select(id) {
    for (const span of document.querySelectorAll(".claim.selected, .statement.selected")) span.classList.remove("selected");
    this.selected = id;
    const spans = this.marks?.marked.get(id) ?? [];
    for (const span of spans) span.classList.add("selected");
    if (innerWidth <= 700) spans[0]?.scrollIntoView({ block: "start" });
    document.querySelector(`.statement[data-claim="${CSS.escape(id ?? "")}"]`)?.classList.add("selected");
  }

  // Verdicts that occur in this report, each of which can be taken out of focus.
  filters() {
    const verdicts = VERDICTS.filter((kind) => this.report.counts[kind]);
    if (verdicts.length < 2) return "";
    const chip = (name) => {
      const box = h("input", { type: "checkbox", checked: !this.off.has(name), onchange: () => { this.off[box.checked ? "delete" : "add"](name); this.filter(); announce(t("shown_n", { n: this.order().length })); } });
      return h("label", { class: "chip filter" }, box, h("span", {}, h("span", { class: `bead verdict-${name}` }), t(`verdict_${name}`), h("small", {}, number(this.report.counts[name]))));
    };
    return h("fieldset", { class: "filters" }, h("legend", {}, t("filter_statements")), h("div", {}, verdicts.map(chip)));
  }

  filter() {
    if (!this.text) return;
    for (const name of VERDICTS) this.text.classList.toggle(`without-${name}`, this.off.has(name));
    for (const row of document.querySelectorAll(".statement")) row.hidden = this.off.has(row.dataset.verdict);
  }

  async download(format) {
    try {
      const answer = await fetch(api.exportPath(this.run.id, format), { credentials: "same-origin" });
      if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).detail ?? `HTTP ${answer.status}`);
      const named = /filename="?([^";]+)/.exec(answer.headers.get("content-disposition") ?? "")?.[1];
      const link = h("a", { href: URL.createObjectURL(await answer.blob()), download: named ?? `${this.run.id}.${format}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // a busy browser begins to read it late
    } catch (error) { this.fail(error); }
  }

  async chooseComparison() {
    const { runs } = await api.runs({ status: "finished", limit: 100 });
    const others = runs.filter((one) => one.id !== this.run.id);
    const same = (one) => one.question === this.run.question;
    others.sort((a, b) => same(b) - same(a));
    const link = (one) => h("a", { href: `#/compare/${this.run.id}/${one.id}`, onclick: () => box.close() }, h("strong", {}, one.title || one.question), h("small", {}, moment(one.created), same(one) && ` · ${t("same_question")}`));
    const box = dialog({ name: "chooser", title: t("compare_with"), close: t("close") },
      others.length ? h("ul", {}, others.map((one) => h("li", {}, link(one)))) : h("p", { class: "hint" }, t("nothing_to_compare")));
  }

  // Begin another run that comes from this one, and show it.
  async begin(work) {
    try {
      const made = await work();
      this.sidebar.load();
      if (location.hash === `#/runs/${made.id}`) location.reload();
      else location.hash = `#/runs/${made.id}`;
    } catch (error) { this.fail(error); }
  }

  async showChanges() {
    try {
      const { text, parent } = await api.changes(this.run.id);
      const box = dialog({ name: "chooser", title: t("what_changed"), close: t("close") },
        h("div", { class: "prose small padded" }, render(text.replace(/^# .*\n/, ""))), h("p", { class: "hint" }, h("a", { href: `#/compare/${parent}/${this.run.id}`, onclick: () => box.close() }, t("comparison"))));
    } catch (error) { this.fail(error); }
  }

  async remove() {
    if (!confirm(t("delete_sure"))) return;
    try {
      await api.remove(this.run.id);
      this.sidebar.load();
      location.hash = "#/";
    } catch (error) { this.fail(error); }
  }

  async drawFurther() {
    this.answers = h("div", { class: "answers" });
    const field = h("textarea", { rows: 1, placeholder: t("follow_up_placeholder"), "aria-label": t("follow_up"), maxLength: 5000, onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); } } });
    const form = h("form", { class: "card follow-up", onsubmit: async (event) => {
      event.preventDefault();
      const question = field.value.trim();
      if (!question || this.asking) return;
      this.asking = true;
      try {
        field.value = "";
        await this.askFurther(question);
      } catch (error) { field.value = question; this.fail(error); }
      this.asking = false;
    } }, field, h("button", { type: "submit", class: "send", "aria-label": t("ask") }, icon("up", 18)));
    fill(this.further, this.answers, form);
    const made = await api.followUps(this.run.id).catch(() => []);
    for (const one of made) {
      if (one.status === "running") this.followAnswer(one).catch(this.fail);
      else this.answers.append(this.answer(one.status === "finished" ? await api.followUp(this.run.id, one.number).catch(() => one) : one));
    }
  }

  async askFurther(question) {
    await this.followAnswer(await api.askFurther(this.run.id, question), true);
  }

  // Show a question, what is done for it, and its answer as soon as it is there.
  async followAnswer(made, isNew) {
    const said = h("p", { class: "hint pulse" }, t("searching"));
    const box = h("article", { class: "further-answer busy", "aria-busy": "true" }, h("h3", {}, made.question), said);
    const show = (element) => isNew && element.scrollIntoView({ block: "nearest", behavior: "smooth" });
    this.answers.append(box);
    show(box);
    api.ready().then(({ workers }) => { if (workers === 0) said.textContent = t("no_worker"); }, () => {});
    await new Promise((resolve) => {
      const stop = follow(followUpEventsOf(this.run.id, made.number), { onEvent: (event) => { if (event.kind === "searched") said.textContent = t("event_searched", { source: named("source", event.source), query: event.query, found: event.found }); }, onEnd: () => { stop(); resolve(); } });
      this.stops.push(stop);
    });
    const answer = this.answer(await api.followUp(this.run.id, made.number));
    box.replaceWith(answer);
    announce(t("answer_ready"));
    show(answer);
  }

  answer(one) {
    if (one.status !== "finished" || !one.result) {
      const state = one.status === "running" ? "stopped" : one.status;
      const again = h("button", { type: "button", class: "chip", onclick: () => { box.remove(); this.askFurther(one.question).catch(this.fail); } }, icon("play", 14), t("resume"));
      const box = h("article", { class: "further-answer" }, h("h3", {}, one.question), h("p", { class: one.error ? "error" : "hint" }, one.error || t(`state_${state}`)), h("p", {}, again));
      return box;
    }
    const { result } = one;
    const byId = new Map(result.claims.map((claim) => [claim.id, claim]));
    const open = (claim, prefer = []) => { this.select(null); this.evidence.openClaim(claim, "", { prefer, problems: result.problems.filter((found) => found.claim === claim.id) }); };
    const cite = (key) => {
      const reference = result.references.find((found) => String(found.number) === key);
      if (!reference) return `[${key}]`;
      return citeButton(reference, (button) => {
        const claim = byId.get(button.dataset.claim);
        if (claim) open(claim, reference.passages);
        else this.evidence.openPassages(reference.passages);
      });
    };
    const marks = new ClaimMarks(result.claims, (id) => open(byId.get(id)));
    const prose = h("div", { class: "prose", lang: result.language });
    let part = prose.appendChild(h("section"));
    for (const made of render(markedText(result).replace(/^# .*\n/, ""), cite, (text) => this.chart(result, text))) {
      if (made.tagName === "H3") part = prose.appendChild(h("section", { class: "around" }));
      part.append(made);
      if (marks.mark(made)) part.className = "";
    }
    // Its sources and how it was checked are told by its citations here.
    if (marks.marked.size) for (const around of prose.querySelectorAll(".around")) around.remove();
    return h("article", { class: "further-answer" }, h("h3", {}, one.question), h("p", { class: "badges" }, one.found_in && h("span", { class: "badge" }, t(`found_in_${one.found_in}`)), h("span", { class: "badge" }, duration(one.seconds))), prose);
  }

  close() {
    [...this.closers, ...this.stops].forEach((close) => close());
    this.evidence?.close();
  }
}

