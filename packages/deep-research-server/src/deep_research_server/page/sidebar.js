// Earlier runs, by day, with search.

import { api } from "./api.js";
import { fill, h, icon } from "./dom.js";
import { current, t } from "./i18n.js";
import { brand } from "./main.js";

export class Sidebar {
  constructor({ onError }) {
    this.onError = onError;
    this.runs = [];
    this.next = "";
    this.selected = "";
    this.field = h("input", { type: "search", placeholder: t("search_runs"), "aria-label": t("search_runs"), oninput: () => this.soon() });
    this.list = h("div", { class: "run-list" });
    this.tools = h("div", { class: "sidebar-foot" });
    this.element = h("nav", { class: "sidebar", "aria-label": t("earlier_runs") },
      h("a", { href: "#/", class: "brand" }, brand()),
      h("a", { href: "#/", class: "button wide" }, icon("plus"), t("new_research")),
      h("div", { class: "search-box" }, icon("search", 16), this.field),
      this.list, this.tools);
  }

  foot(element) { fill(this.tools, element); }

  search() { this.field.focus(); }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), 200);
  }

  async load(more = false) {
    try {
      const q = this.field.value.trim();
      const page = await api.runs({ limit: 40, ...(q && { q }), ...(more && this.next && { cursor: this.next }) });
      this.runs = more ? [...this.runs, ...page.runs] : page.runs;
      this.next = page.next;
      this.draw();
    } catch (error) { if (error.status !== 401) this.onError(error); }
  }

  select(id) {
    this.selected = id;
    for (const link of this.list.querySelectorAll("a")) link.toggleAttribute("aria-current", link.dataset.run === id);
  }

  draw() {
    const groups = new Map();
    for (const run of this.runs) {
      const name = dayName(run.created);
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(run);
    }
    fill(this.list, !this.runs.length && h("p", { class: "hint" }, this.field.value ? t("no_runs_found") : t("no_runs")),
      [...groups].map(([name, runs]) => [h("h2", {}, name), h("ul", {}, runs.map((run) => h("li", {},
        h("a", { href: `#/runs/${run.id}`, data: { run: run.id }, "aria-current": run.id === this.selected, title: run.question },
          dot(run), h("span", {}, h("span", { class: "run-name" }, run.title || run.question || t(`state_${run.status}`)), h("time", { datetime: run.created }, clock(run.created))),
          stateOf(run) !== "finished" && h("span", { class: "visually-hidden" }, t(`state_${stateOf(run)}`))))))]),
      this.next && h("button", { type: "button", class: "ghost", onclick: () => this.load(true) }, t("more_runs")));
  }
}

// A report that answers nothing is no success to be told by the same dot.
const stateOf = (run) => (run.status === "finished" && !run.is_answered ? "unanswered" : run.status);
const dot = (run) => h("span", { class: `dot state-${stateOf(run)}`, title: t(`state_${stateOf(run)}`) });

// The time of day, with the date where the heading above names a month.
function clock(created) {
  const then = new Date(created);
  const isRecent = Date.now() - then < 6 * 86_400_000;
  return new Intl.DateTimeFormat(current(), isRecent ? { timeStyle: "short" } : { month: "short", day: "numeric", hour: "numeric", minute: "numeric" }).format(then);
}

function dayName(created) {
  const then = new Date(created);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(then).setHours(0, 0, 0, 0)) / 86_400_000);
  if (days < 7) return new Intl.RelativeTimeFormat(current(), { numeric: "auto" }).format(-days, "day");
  return new Intl.DateTimeFormat(current(), { month: "long", year: "numeric" }).format(then);
}
