// A run while it goes on: stages, sections side by side, what is asked, steering, cost.

import { api, eventsOf, follow, whenBack } from "./api.js";
import { announce, fill, h, heading, icon, menu } from "./dom.js";
import { duration, money, named, number, t } from "./i18n.js";
import { render } from "./markdown.js";
import { Evidence } from "./evidence.js";
import { PlanEditor } from "./plan.js";
import { eventLine } from "./process.js";

const STAGES = ["prepare", "clarify", "analyze", "discover", "plan", "research", "review", "report", "verify"];
const SHOWN = ["clarify", "plan", "research", "review", "report", "verify"];

export class LiveView {
  constructor(context, run, onReport) {
    Object.assign(this, context, { run, onReport });
    this.sections = new Map();
    this.log = [];
    this.gaps = [];
    this.stage = "prepare";
    this.seconds = 0;
    this.status = run.status;
    this.written = "";
    this.since = performance.now();
  }

  show() {
    document.title = `${this.run.question.slice(0, 60)} · deep-research`;
    this.evidence = new Evidence(this.run.id);
    this.headStatus = h("span", { class: "pill" });
    this.clock = h("span", { class: "figure-number" });
    this.cost = h("span", { class: "figure-number" });
    this.buttons = h("div", { class: "head-buttons" });
    this.steps = h("ol", { class: "steps", "aria-label": t("stages") });
    this.told = h("div", { class: "told" });
    this.ask = h("div", { class: "asked" });
    this.grid = h("div", { class: "section-grid" });
    this.growing = h("section", { class: "growing", "aria-label": t("report_so_far"), hidden: true }, h("h2", { class: "eyebrow" }, icon("doc", 16), t("report_so_far")));
    this.said = h("p", { class: "eyebrow" });
    this.text = h("article", { class: "prose" });
    this.writing = h("section", { class: "writing", "aria-label": t("stage_report"), hidden: true }, this.said, this.text);
    this.steering = this.steerBar();
    this.activity = h("ol", { class: "activity" });
    this.line = h("p", { class: "connection", hidden: true }, t("connection_lost"));
    fill(this.main, h("div", { class: "run live" },
      h("header", { class: "run-head" }, heading(this.run.question, this.run.language),
        h("div", { class: "run-facts" }, this.headStatus, h("span", {}, icon("clock", 15), this.clock), h("span", { class: "cost" }, this.cost), this.run.documents.length > 0 && h("span", {}, icon("doc", 15), t("n_documents", { n: this.run.documents.length })), this.buttons)),
      this.steps, this.line, this.told, this.ask,
      h("div", { class: "live-columns" }, h("section", { "aria-label": t("sections") }, this.writing, this.grid, this.steering, this.growing),
        h("aside", { class: "activity-box", "aria-label": t("activity") }, h("h2", {}, t("activity")), this.activity))), this.evidence.element);
    this.connect(0);
    this.ticker = setInterval(() => this.tick(), 1000);
    this.draw();
  }

  connect(after) {
    this.stopFollowing?.();
    this.stopFollowing = follow(eventsOf(this.run.id), {
      after,
      onEvent: (event) => { this.take(event); this.later(); },
      onEnd: (status, last) => this.ended(status, last),
      onOpen: () => { this.written = ""; }, // all of it comes again
      onLost: () => { this.line.hidden = false; announce(t("connection_lost")); },
      onBack: () => { this.line.hidden = true; announce(t("connection_back")); },
    });
  }

  section(title) {
    if (!this.sections.has(title)) this.sections.set(title, { title, state: "planned", searches: [], found: 0, attempt: 0, content: "", dropped: false });
    return this.sections.get(title);
  }

  // The sections of a plan in its order; of an earlier plan those stay that were begun.
  plan(titles) {
    const before = this.sections;
    this.sections = new Map();
    for (const title of titles) this.sections.set(title, before.get(title) ?? this.section(title));
    for (const [title, one] of before) if (one.state !== "planned" && !this.sections.has(title)) this.sections.set(title, one);
    for (const one of before.values()) one.card?.remove();
  }

  take(event) {
    this.seconds = event.seconds;
    this.since = performance.now();
    if (event.kind === "report_piece") {
      if (!this.written) this.progress = t("being_written");
      this.written += event.text;
      return;
    }
    this.last = event.number;
    this.log.push(event);
    // What was asked and answered stands in the events again when the run goes on: after it the run is no longer waiting.
    if (this.status === "waiting") this.status = "running";
    const of = event.section ? this.section(event.section) : null;
    switch (event.kind) {
      case "run_started": this.status = "running"; this.asked = null; break;
      case "stage_started": this.stage = event.stage; if (event.stage === "report") this.written = ""; if (event.stage === "report") announce(t("stage_report")); break;
      case "understood": this.understood = event; break;
      case "planned": this.plan(event.sections); this.title = event.title; announce(t("planned_n", { n: event.sections.length })); break;
      case "section_started": of.state = "searching"; of.attempt = event.attempt; break;
      case "searched": if (of) { of.searches.push(event); of.found += event.found; if (of.state === "planned") of.state = "searching"; } break;
      case "section_written": Object.assign(of, { state: "written", sources: event.sources, passages: event.passages, content: event.content ?? "" }); announce(t("section_ready", { title: event.section })); this.costSoon(); break;
      case "section_reviewed": of.score = event.score; of.notes = event.notes; of.state = event.retry ? "again" : "done"; break;
      case "steered": if (event.what === "drop") this.section(event.section).dropped = true; if (event.what === "add") this.section(event.section); break;
      case "gap_found": this.gaps.push(event); break;
      case "verified": this.progress = t(event.problems ? "being_revised" : "verified_all", { n: event.statements, problems: event.problems }); announce(this.progress); break;
      case "revised": this.progress = t("verified_again", { n: event.edits }); break;
      case "clarification_asked": this.status = "waiting"; break;
    }
  }

  async ended(status) {
    this.status = status;
    if (status === "finished") return this.onReport();
    this.run = await whenBack(() => api.run(this.run.id)).catch(() => this.run);
    this.sidebar.load();
    if (status === "waiting") announce(this.run.asked?.question ?? t("state_waiting"));
    this.askDrawn = false;
    this.draw();
  }

  // From here on nothing can be changed any more.
  isWriting() { return ["report", "verify"].includes(this.stage); }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  costSoon() {
    clearTimeout(this.costTimer);
    this.costTimer = setTimeout(async () => {
      const run = await api.run(this.run.id).catch(() => null);
      if (run) { this.run.ledger = run.ledger; this.tick(); }
    }, 400);
  }

  tick() {
    const going = this.status === "running";
    this.clock.textContent = duration(this.seconds + (going ? (performance.now() - this.since) / 1000 : 0));
    const { model_calls, cost_usd } = this.run.ledger;
    this.cost.textContent = model_calls ? `${t("n_calls", { n: number(model_calls) })} · ${money(cost_usd)}` : "";
  }

  draw() {
    const state = this.status;
    fill(this.headStatus, h("span", { class: `dot state-${state}` }), t(`state_${state}`));
    this.tick();
    this.drawButtons(state);
    this.drawSteps(state);
    this.drawTold();
    this.drawAsked(state);
    this.drawGrid();
    this.drawWritten();
    this.steering.hidden = !(state === "running" && this.sections.size && !this.isWriting());
    const shown = this.log.slice(-80).reverse();
    if (this.drawn !== this.log.length) { fill(this.activity, shown.map(eventLine)); this.drawn = this.log.length; }
  }

  drawButtons(state) {
    if (this.buttonState === state) return;
    this.buttonState = state;
    const stop = h("button", { type: "button", class: "ghost", onclick: () => this.act(() => api.cancel(this.run.id)) }, icon("stop", 16), t("stop"));
    const again = h("button", { type: "button", class: "button", onclick: () => this.act(async () => { await api.resume(this.run.id); this.status = "running"; this.connect(this.last ?? 0); }) }, icon("play", 15), t("resume"));
    const more = menu(h("button", { type: "button", class: "ghost", "aria-label": t("more") }, "⋯"), [{ text: t("delete"), icon: "trash", danger: true, run: () => this.remove() }], t("more"));
    fill(this.buttons, ["running", "queued"].includes(state) && stop, ["stopped", "failed"].includes(state) && again, more);
  }

  drawSteps(state) {
    const at = STAGES.indexOf(this.stage);
    fill(this.steps, SHOWN.map((name) => {
      const own = STAGES.indexOf(name);
      const next = STAGES.indexOf(SHOWN[SHOWN.indexOf(name) + 1] ?? "") ;
      const isNow = at >= (name === "clarify" ? 0 : own) && (next < 0 || at < next);
      const isDone = !isNow && at > own;
      return h("li", { class: isNow ? `now ${state}` : isDone ? "done" : "", "aria-current": isNow ? "step" : undefined }, h("span", { class: "step-mark" }, isDone && icon("check", 13)), t(`stage_${name}`));
    }));
  }

  drawTold() {
    const said = this.understood;
    if (this.status === "queued" && this.toldStatus !== "queued") this.lookForWorkers();
    if (this.toldFor === said && this.toldStatus === this.status) return;
    this.toldFor = said;
    this.toldStatus = this.status;
    const failed = this.status === "failed" || this.status === "declined" ? h("p", { class: "notice bad", role: "alert" }, h("strong", {}, t(this.status === "failed" ? "failed" : "state_declined")), h("span", { lang: this.status === "failed" ? "en" : this.run.language }, this.run.error)) : "";
    fill(this.told, failed, this.status === "queued" && this.noWorker && h("p", { class: "notice", role: "alert" }, t("no_worker")), this.status === "stopped" && h("p", { class: "notice" }, t("stopped_hint")), said?.assumptions.length > 0 && h("details", { class: "notice", open: true }, h("summary", {}, t("assumptions")), h("ul", {}, said.assumptions.map((one) => h("li", {}, one)))));
  }

  // A run that waits in a queue at which nothing works would wait without end.
  async lookForWorkers() {
    const { workers } = await api.ready().catch(() => ({}));
    this.noWorker = workers === 0;
    this.toldFor = null;
    this.later();
  }

  drawAsked(state) {
    const asked = state === "waiting" ? this.run.asked : null;
    if (!asked) { fill(this.ask); this.askDrawn = false; return; }
    if (this.askDrawn) return;
    this.askDrawn = true;
    const answer = (text) => this.act(() => this.answer(text));
    if (asked.brief) {
      const editor = new PlanEditor(asked, { onStart: (plan, changed) => this.act(() => this.startPlan(plan, changed)), onReject: () => answer(t("answer_no")) });
      fill(this.ask, editor.element);
      editor.element.querySelector("h2").focus();
      return;
    }
    const field = h("input", { type: "text", id: "answer", placeholder: t("own_answer"), "aria-label": t("own_answer"), maxLength: 5000 });
    fill(this.ask, h("section", { class: "card question-card", "aria-labelledby": "asked" },
      h("p", { class: "eyebrow" }, icon("question", 16), t("asks_you")), h("h2", { id: "asked", tabindex: "-1" }, asked.question),
      h("div", { class: "options" }, asked.options.map((option) => h("button", { type: "button", class: "option", onclick: () => answer(option) }, h("span", {}, option), icon("arrow", 16)))),
      h("form", { class: "answer-form", onsubmit: (event) => { event.preventDefault(); if (field.value.trim()) answer(field.value.trim()); } }, field, h("button", { type: "submit", class: "button" }, t("answer")))));
    this.ask.querySelector("h2").focus();
  }

  // An edited plan is put in the place of the shown one; the run shows it again, and it is then confirmed.
  async startPlan(plan, changed) {
    if (changed) {
      await api.plan(this.run.id, plan);
      await new Promise((resolve, reject) => {
        this.stopFollowing();
        this.stopFollowing = follow(eventsOf(this.run.id), { after: this.last ?? 0, onEvent: (event) => this.take(event), onEnd: (status) => (status === "waiting" ? resolve() : reject(new Error(t(`state_${status}`)))) });
      });
      const { asked } = await api.run(this.run.id);
      const titles = asked?.brief?.sections.map((one) => one.title).join("\n");
      if (titles !== plan.sections.map((one) => one.title.trim()).join("\n")) {
        this.run = await api.run(this.run.id);
        this.askDrawn = false;
        this.status = "waiting";
        this.draw();
        throw new Error(asked?.question ?? t("failed"));
      }
    }
    await this.answer(t("answer_yes"));
  }

  async answer(text) {
    await api.answer(this.run.id, text);
    this.run = { ...this.run, asked: null };
    this.status = "running";
    this.connect(this.last ?? 0);
  }

  drawGrid() {
    if (!this.sections.size) {
      if (!this.skeleton) { this.skeleton = true; fill(this.grid, [0, 1, 2].map(() => h("div", { class: "section-card skeleton", "aria-hidden": "true" }, h("i"), h("i"), h("i")))); }
      this.grid.hidden = this.status !== "running";
      return;
    }
    this.grid.hidden = false;
    if (this.skeleton) { fill(this.grid); this.skeleton = false; }
    let place = 0;
    for (const one of this.sections.values()) {
      place++;
      one.card ??= h("article", { class: "section-card" });
      if (!one.card.parentNode) this.grid.append(one.card);
      const key = [place, one.state, one.attempt, one.searches.length, one.found, one.passages, one.score, one.dropped, one.content.length, this.status, this.stage].join();
      if (one.key === key) continue;
      one.key = key;
      this.drawCard(one, place);
    }
  }

  drawCard(one, place) {
    const isIdle = ["stopped", "failed"].includes(this.status) && ["searching", "again"].includes(one.state);
    const state = one.dropped ? "dropped" : isIdle ? "planned" : one.state;
    const last = one.searches.at(-1);
    const canDrop = this.status === "running" && !one.dropped && this.sections.size > 1 && !this.isWriting();
    one.card.className = `section-card is-${state}`;
    fill(one.card,
      h("header", {}, h("span", { class: "section-number" }, place), h("h2", {}, one.title),
        canDrop && h("button", { type: "button", class: "ghost drop", "aria-label": t("drop_section", { title: one.title }), title: t("drop_section", { title: one.title }), onclick: () => this.act(() => api.steer(this.run.id, "drop", one.title)) }, icon("close", 14))),
      h("p", { class: "section-state" }, h("span", { class: `bead bead-${state}` }), t(isIdle && !one.dropped ? `state_${this.status}` : `section_${state}`), one.attempt > 1 && ` · ${t("attempt_n", { n: one.attempt })}`),
      last && state !== "done" && state !== "written" && h("p", { class: "query" }, icon("search", 14), h("span", {}, last.query), h("small", {}, named("source", last.source))),
      h("dl", { class: "counts" }, [["searches", one.searches.length], ["found", one.found], ...(one.passages !== undefined ? [["passages", one.passages]] : [])].map(([name, value]) => h("div", {}, h("dt", {}, t(`count_${name}`, { n: value })), h("dd", {}, number(value))))),
      one.notes && state === "again" && h("p", { class: "notes" }, one.notes),
      one.content && h("button", { type: "button", class: "ghost to-draft", onclick: () => { one.draft.scrollIntoView({ block: "start" }); one.draft.focus({ preventScroll: true }); } }, icon("down", 14), t("read_draft")));
    this.drawDraft(one);
  }

  // The report while it is being written and verified: what is shown is the last word of nobody yet.
  drawWritten() {
    this.writing.hidden = !this.written;
    if (!this.written || this.shownText === this.written + this.progress || this.drawingText) return;
    this.drawingText = true;
    setTimeout(() => {
      this.drawingText = false;
      this.shownText = this.written + this.progress;
      fill(this.said, h("span", { class: "bead bead-searching" }), this.progress);
      fill(this.text, render(this.written, (key) => this.citePassage(key)));
      this.later();
    }, 120);
  }

  citePassage(key) {
    return /^s\d+p\d+$/.test(key) ? h("button", { type: "button", class: "cite", "aria-label": t("open_passage", { key }), onclick: () => this.evidence.openPassages([key]) }, "\u201d") : `[${key}]`;
  }

  // The text of a section as soon as it is written, in the order of the plan; each citation opens its passage.
  drawDraft(one) {
    if (!one.content || one.shown === one.content) return;
    one.shown = one.content;
    this.growing.hidden = false;
    if (!one.draft) {
      one.draft = h("article", { class: "prose", tabindex: "-1" });
      const later = [...this.sections.values()].slice([...this.sections.values()].indexOf(one) + 1).find((other) => other.draft);
      this.growing.insertBefore(one.draft, later?.draft ?? null);
    }
    fill(one.draft, h("h3", {}, one.title), render(one.content, (key) => this.citePassage(key)));
  }

  steerBar() {
    const field = h("input", { type: "text", "aria-label": t("steer"), placeholder: t("steer_placeholder"), maxLength: 2000 });
    const kind = h("select", { "aria-label": t("steer_kind"), onchange: () => { field.placeholder = t(kind.value === "add" ? "steer_add_placeholder" : "steer_placeholder"); } }, h("option", { value: "remark" }, t("steer_remark")), h("option", { value: "add" }, t("steer_add")));
    return h("form", { class: "steer card", hidden: true, onsubmit: (event) => {
      event.preventDefault();
      if (!field.value.trim()) return;
      this.act(async () => { await api.steer(this.run.id, kind.value, field.value.trim()); field.value = ""; announce(t("steer_taken")); });
    } }, icon("steer", 20), kind, field, h("button", { type: "submit", class: "button" }, t("steer_send")),
    h("button", { type: "button", class: "ghost", onclick: () => this.act(() => api.steer(this.run.id, "finish")) }, icon("flag", 16), t("finish_now")));
  }

  async act(work) {
    try { await work(); this.later(); } catch (error) { this.fail(error); }
  }

  async remove() {
    if (!confirm(t("delete_sure"))) return;
    await this.act(async () => { await api.remove(this.run.id); this.sidebar.load(); location.hash = "#/"; });
  }

  close() {
    clearInterval(this.ticker);
    clearTimeout(this.costTimer);
    this.stopFollowing?.();
    this.evidence?.close();
  }
}
