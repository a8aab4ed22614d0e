// The plan of a run, to be confirmed, edited or rejected.

import { fill, h, icon } from "./dom.js";
import { t } from "./i18n.js";

const MOST = 7;

export class PlanEditor {
  constructor(asked, { onStart, onReject }) {
    const { brief } = asked;
    this.onStart = onStart;
    this.brief = brief;
    this.sections = brief.sections.map((one) => ({ title: one.title, description: one.description, queries: [...one.queries] }));
    this.shown = JSON.stringify(this.plan());
    this.list = h("ol", { class: "plan-list" });
    this.add = h("button", { type: "button", class: "ghost", onclick: () => { this.sections.push({ title: "", description: "", queries: [] }); this.draw(); this.list.lastElementChild.querySelector("input").focus(); } }, icon("plus", 16), t("add_section"));
    this.element = h("form", { class: "card plan", onsubmit: (event) => { event.preventDefault(); this.start(); } },
      h("p", { class: "eyebrow" }, icon("edit", 16), t("plan_to_confirm")), h("h2", { tabindex: "-1" }, brief.title),
      brief.objective && h("p", { class: "lead" }, brief.objective), this.list, this.add,
      h("div", { class: "plan-buttons" }, h("button", { type: "submit", class: "button" }, icon("play", 15), t("start_research")), h("button", { type: "button", class: "ghost", onclick: onReject }, t("reject_plan"))));
    this.draw();
  }

  plan() {
    return { title: this.brief.title, objective: this.brief.objective, sections: this.sections.map((one) => ({ title: one.title.trim(), description: one.description.trim(), queries: one.queries.map((q) => q.trim()).filter(Boolean).slice(0, 6) })).filter((one) => one.title) };
  }

  start() {
    const plan = this.plan();
    this.onStart(plan, JSON.stringify(plan) !== this.shown);
  }

  move(from, to) {
    this.sections.splice(to, 0, ...this.sections.splice(from, 1));
    this.draw();
    this.list.children[to].querySelector("input").focus();
  }

  draw() {
    this.add.hidden = this.sections.length >= MOST;
    fill(this.list, this.sections.map((one, at) => h("li", {},
      h("span", { class: "section-number" }, at + 1),
      h("div", { class: "plan-fields" },
        h("input", { type: "text", class: "plan-title", value: one.title, maxLength: 200, required: true, "aria-label": t("section_title", { n: at + 1 }), placeholder: t("section_title", { n: at + 1 }), oninput: (event) => { one.title = event.target.value; } }),
        h("input", { type: "text", class: "plan-text", value: one.description, maxLength: 1000, "aria-label": t("section_description"), placeholder: t("section_description"), oninput: (event) => { one.description = event.target.value; } }),
        h("input", { type: "text", class: "plan-queries", value: one.queries.join(" | "), "aria-label": t("section_queries"), placeholder: t("section_queries"), oninput: (event) => { one.queries = event.target.value.split("|"); } })),
      h("div", { class: "plan-tools" },
        h("button", { type: "button", class: "ghost", "aria-label": t("move_up"), disabled: at === 0, onclick: () => this.move(at, at - 1) }, icon("up", 15)),
        h("button", { type: "button", class: "ghost", "aria-label": t("move_down"), disabled: at === this.sections.length - 1, onclick: () => this.move(at, at + 1) }, icon("down", 15)),
        h("button", { type: "button", class: "ghost", "aria-label": t("remove_section"), disabled: this.sections.length < 2, onclick: () => { this.sections.splice(at, 1); this.draw(); } }, icon("trash", 15))))));
    for (const input of this.list.querySelectorAll("input")) input.defaultValue = input.value;
  }
}
