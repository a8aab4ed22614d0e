// How a report came about: what happened when, by section, and what it cost.

import { eventsOf, follow } from "./api.js";
import { fill, h } from "./dom.js";
import { duration, money, named, number, t } from "./i18n.js";

const LOUD = new Set(["planned", "section_written", "verified", "report_ready", "clarification_asked", "steered"]);
const BAD = new Set(["gap_found", "run_failed", "run_declined"]);

function sentence(event) {
  switch (event.kind) {
    case "run_started": return t(event.resumed ? "event_resumed" : "event_started", { reasoner: event.reasoner === "finder" ? t("without_model") : event.reasoner });
    case "stage_started": return t(`stage_${event.stage}`);
    case "progress": return event.total ? `${t("event_progress")} ${number(event.done)}/${number(event.total)}` : t("event_progress");
    case "understood": return event.verification;
    case "analyzed": return t(`event_analyzed_${event.query_type}`);
    case "discovered": return t("event_discovered", { list: event.entities.join(", ") });
    case "planned": return t("event_planned", { n: event.sections.length });
    case "section_started": return t("event_section_started", { section: event.section });
    case "searched": return t("event_searched", { source: named("source", event.source), query: event.query, found: event.found });
    case "section_written": return t("event_section_written", { section: event.section, passages: event.passages, sources: event.sources });
    case "section_reviewed": return event.score ? t("event_section_reviewed", { section: event.section, score: event.score }) : "";
    case "reviewed": return event.score ? t("event_reviewed", { score: event.score }) : "";
    case "gap_found": return `${event.what}: ${event.why}`;
    case "steered": return t("event_steered", { text: event.text || event.section || event.what });
    case "verified": return t("event_verified", { n: event.statements, problems: event.problems });
    case "revised": return t("event_revised", { n: event.edits });
    case "report_ready": return t("event_report_ready", { references: event.references });
    case "clarification_asked": return event.question;
    case "run_failed": return `${t("failed")}: ${event.message}`;
    case "run_declined": return event.reason;
  }
  return event.kind;
}

export function eventLine(event) {
  const text = sentence(event); // none of a review that nobody made
  return text && h("li", { class: `event event-${event.kind}${LOUD.has(event.kind) ? " loud" : ""}${BAD.has(event.kind) ? " bad" : ""}` }, h("time", {}, clock(event.seconds)), h("span", {}, text));
}

const shortClock = (seconds, end) => (end < 20 ? duration(Math.round(seconds * 10) / 10) : clock(seconds));
const clock = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

export class ProcessTab {
  constructor(run, report) {
    this.run = run;
    this.report = report;
    this.element = h("div", { class: "process" }, h("p", { class: "hint" }, t("loading")));
    const events = [];
    this.stop = follow(eventsOf(run.id), { onEvent: (event) => events.push(event), onEnd: () => this.draw(events) });
  }

  close() { this.stop(); }

  draw(events) {
    const { ledger, reasoner } = this.report;
    const facts = [["seconds_spent", duration(ledger.seconds)], ["cost", money(ledger.cost_usd)], ["model_calls", number(ledger.model_calls)], ["tokens", number(ledger.prompt_tokens + ledger.completion_tokens)], ["cached_tokens", number(ledger.cached_tokens)], ["searches", number(ledger.searches)], ["fetches", number(ledger.fetches)]].filter(([name]) => ledger.model_calls || ["seconds_spent", "searches", "fetches"].includes(name));
    const models = new Map();
    for (const [role, model] of Object.entries(reasoner.models ?? {})) models.set(model, [...(models.get(model) ?? []), t(`role_${role}`)]);
    fill(this.element,
      h("section", {}, h("h2", {}, t("cost_and_time")), h("dl", { class: "ledger" }, facts.map(([name, value]) => h("div", {}, h("dt", {}, t(`ledger_${name}`)), h("dd", {}, value)))),
        h("p", { class: "hint" }, models.size ? [...models].map(([model, roles]) => (models.size > 1 ? `${model} (${roles.join(", ")})` : model)).join(" · ") : t("answers_without_model"))),
      h("section", {}, h("h2", {}, t("timeline")), this.lanes(events)),
      h("section", {}, h("h2", {}, t("all_events")), h("ol", { class: "activity whole" }, events.map(eventLine))));
  }

  // One lane a section: when it was searched, written and reviewed.
  lanes(events) {
    const end = Math.max(1, events.at(-1)?.seconds ?? 1);
    const lanes = new Map();
    const lane = (title) => { if (!lanes.has(title)) lanes.set(title, { bars: [], searches: [] }); return lanes.get(title); };
    for (const event of events) {
      if (event.kind === "section_started") lane(event.section).bars.push({ from: event.seconds, to: event.seconds });
      if (event.kind === "searched" && event.section) lane(event.section).searches.push(event);
      if (event.kind === "section_written" || event.kind === "section_reviewed") { const bar = lane(event.section).bars.at(-1); if (bar) bar.to = event.seconds; }
    }
    const share = (seconds) => `${(100 * seconds) / end}%`;
    return h("div", { class: "lanes" }, [...lanes].map(([title, one]) => h("div", { class: "lane" }, h("span", { class: "lane-name" }, title),
      h("div", { class: "lane-track", role: "img", "aria-label": t("lane_label", { n: one.searches.length, time: one.bars.map((bar) => `${clock(bar.from)}–${clock(bar.to)}`).join(", ") }) },
        one.bars.map((bar) => h("span", { class: "lane-bar", css: { "inset-inline-start": share(bar.from), "inline-size": `max(3px, ${share(bar.to - bar.from)})` } })),
        one.searches.map((event) => h("span", { class: "lane-dot", title: event.query, css: { "inset-inline-start": share(event.seconds) } }))))),
    h("div", { class: "lane axis", "aria-hidden": "true" }, h("span"), h("div", {}, [0, 0.25, 0.5, 0.75, 1].map((part) => h("span", {}, shortClock(end * part, end))))));
  }
}
