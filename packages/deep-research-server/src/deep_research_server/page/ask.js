// The form for a question: documents by drag and drop, sources, depth, budget, model.

import { api } from "./api.js";
import { fill, h, icon, toast } from "./dom.js";
import { named, t } from "./i18n.js";

const DRAFT = "draft";
const FOLDED = 7;

export class AskView {
  constructor({ main, options, sidebar, fail }) {
    Object.assign(this, { main, options, sidebar, fail });
    this.documents = [];
    this.key = crypto.randomUUID();
  }

  show() {
    document.title = "deep-research";
    this.question = h("textarea", { id: "question", rows: 3, required: true, maxLength: 20000, placeholder: t("question_placeholder"), "aria-label": t("question"),
      oninput: () => { this.grow(); sessionStorage.setItem(DRAFT, this.question.value); },
      onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); this.form.requestSubmit(); } } });
    this.question.value = sessionStorage.getItem(DRAFT) ?? "";
    this.files = h("ul", { class: "file-chips", "aria-label": t("documents") });
    this.picker = h("input", { type: "file", multiple: true, hidden: true, accept: this.options.uploads.types.join(","), onchange: () => { this.add([...this.picker.files]); this.picker.value = ""; } });
    this.send = h("button", { type: "submit", class: "send", "aria-label": t("start") }, icon("up", 20));
    this.form = h("form", { class: "composer card", onsubmit: (event) => this.submit(event) },
      this.question, this.files, this.picker,
      h("div", { class: "composer-bar" },
        h("button", { type: "button", class: "chip", onclick: () => this.picker.click() }, icon("clip", 16), t("add_documents")),
        h("button", { type: "button", class: "chip", title: t("verify_report_hint"), onclick: () => this.verify() }, icon("check", 16), t("verify_report")),
        this.strategy(), this.depth(), this.planBox(),
        h("span", { class: "grow" }), this.send),
      this.more());
    this.drops();
    const examples = ["example_1", "example_2", "example_3"].map((name) => h("button", { type: "button", class: "example",
      onclick: () => { this.question.value = t(name); this.grow(); this.question.focus(); } }, t(name), icon("arrow", 16)));
    fill(this.main, h("div", { class: "ask" }, h("h1", {}, t("ask_title")), h("p", { class: "lead" }, t("ask_lead")), this.form, this.who(),
      h("section", { class: "examples", "aria-label": t("examples") }, examples),
      h("ul", { class: "promises" }, [["quote", "promise_1"], ["scale", "promise_2"], ["limit", "promise_3"]].map(([sign, name]) =>
        h("li", {}, icon(sign, 20), h("strong", {}, t(`${name}_title`)), h("span", {}, t(name)))))));
    this.grow();
    this.question.focus();
  }

  // What answers and where it looks; or why nothing can be asked until the server's settings are mended.
  who() {
    const { model, provider, web, problem } = this.options;
    if (problem) return h("p", { class: "notice bad", role: "alert" }, h("strong", {}, t("settings_problem")), h("span", { lang: "en" }, problem));
    const thinks = model ? t("answers_with_model", { model, provider }) : t("answers_without_model");
    return h("p", { class: "hint composer-note" }, thinks, /[\u3002]$/.test(thinks) ? "" : " ", web ? t("searches_web", { web: web.split(", ").map((one) => named("strategy", one)).join(", ") }) : t("searches_bundled"));
  }

  strategy() {
    this.where = h("select", { id: "strategy", "aria-label": t("sources") }, h("option", { value: "" }, t("strategy_default")),
      this.options.strategies.map((one) => h("option", { value: one.name, title: one.purpose }, named("strategy", one.name))));
    return h("label", { class: "chip select" }, icon("globe", 16), this.where);
  }

  depth() {
    this.length = "standard";
    const box = h("div", { class: "segments", role: "radiogroup", "aria-label": t("depth") });
    for (const name of ["brief", "standard", "deep"]) box.append(h("label", { title: t(`depth_${name}_hint`) },
      h("input", { type: "radio", name: "depth", value: name, checked: name === this.length, onchange: () => { this.length = name; } }), h("span", {}, t(`depth_${name}`))));
    return box;
  }

  planBox() {
    this.confirm = h("input", { type: "checkbox" });
    return h("label", { class: "chip toggle", title: t("confirm_plan_hint") }, this.confirm, h("span", {}, icon("check", 14), t("confirm_plan")));
  }

  more() {
    const field = (id, label, input) => h("div", { class: "field" }, h("label", { for: id }, label), input);
    this.budget = h("input", { id: "budget", type: "number", min: "0.01", max: "10000", step: "0.01", inputmode: "decimal", placeholder: t("no_limit") });
    this.provider = h("select", { id: "provider" }, h("option", { value: "" }, t("provider_default")), this.options.providers.map((one) => h("option", { value: one.name }, one.purpose ? `${one.name} · ${one.purpose}` : one.name)),
      h("option", { value: "finder" }, t("without_model")));
    this.model = h("input", { id: "model", type: "text", maxLength: 120, placeholder: this.options.model || t("model_default"), spellcheck: "false" });
    this.workflow = h("select", { id: "workflow" }, ["", "sections", "loop", "supervisor", "quick"].map((name) => h("option", { value: name }, t(`workflow_${name || "default"}`))));
    this.template = h("select", { id: "template" }, h("option", { value: "" }, t("template_default")), h("option", { value: "none" }, t("template_none")), this.options.templates.map((one) => h("option", { value: one.name, title: one.purpose }, one.name)));
    this.clarify = h("input", { type: "checkbox", id: "clarify", checked: true });
    return h("details", { class: "more" }, h("summary", {}, icon("chevron", 14), t("more_options")),
      h("div", { class: "fields" }, field("budget", t("budget"), this.budget), field("provider", t("provider"), this.provider), field("model", t("model"), this.model),
        field("workflow", t("workflow"), this.workflow), field("template", t("template"), this.template),
        h("div", { class: "field check" }, this.clarify, h("label", { for: "clarify" }, t("allow_clarification")))));
  }

  grow() {
    this.question.style.setProperty("height", "auto");
    this.question.style.setProperty("height", `${Math.min(this.question.scrollHeight + 2, 320)}px`);
  }

  drops() {
    let depth = 0;
    const over = (inside) => { depth = inside ? depth + 1 : Math.max(0, depth - 1); this.form.classList.toggle("dropping", depth > 0); };
    this.main.ondragenter = (event) => { event.preventDefault(); over(true); };
    this.main.ondragleave = () => over(false);
    this.main.ondragover = (event) => event.preventDefault();
    this.main.ondrop = (event) => { event.preventDefault(); depth = 0; this.form.classList.remove("dropping"); this.add([...event.dataTransfer.files]); };
    this.form.dataset.drop = t("drop_here");
  }

  async add(files) {
    const { megabytes } = this.options.uploads;
    for (const file of files) {
      if (file.size > megabytes * 1e6) { toast(t("too_large", { name: file.name, n: megabytes }), "error"); continue; }
      const entry = { name: file.name, id: "" };
      this.documents.push(entry);
      this.draw();
      try {
        entry.id = (await api.upload(file)).id;
      } catch (error) {
        this.documents = this.documents.filter((one) => one !== entry);
        this.fail(error);
      }
      this.draw();
    }
  }

  draw() {
    const hidden = this.unfolded ? 0 : Math.max(0, this.documents.length - FOLDED);
    const all = hidden > 1 && h("li", { class: this.documents.every((one) => one.id) ? "" : "busy" }, h("button", { type: "button", class: "ghost", onclick: () => { this.unfolded = true; this.draw(); } }, t("more_documents", { n: hidden })));
    fill(this.files, this.documents.slice(0, hidden > 1 ? FOLDED : undefined).map((one) => h("li", { class: one.id ? "" : "busy" }, icon("doc", 15), h("span", {}, one.name),
      h("button", { type: "button", class: "ghost", "aria-label": t("remove_document", { name: one.name }), onclick: () => this.drop(one) }, icon("close", 13)))), all);
  }

  // One dropped document is the report, two are compared; without any it is chosen first.
  async verify() {
    if (this.documents.some((one) => !one.id)) { toast(t("still_uploading")); return; }
    if (!this.documents.length || this.documents.length > 2) { toast(t("verify_report_hint")); if (!this.documents.length) this.picker.click(); return; }
    const { documents: reports, question, depth, strategy, budget_usd, model_provider, model_name } = this.body();
    try {
      const run = await api.verify({ reports, question, depth, strategy, budget_usd, model_provider, model_name });
      this.sidebar.load();
      location.hash = `#/runs/${run.id}`;
    } catch (error) {
      this.fail(error);
    }
  }

  async drop(one) {
    this.documents = this.documents.filter((other) => other !== one);
    this.draw();
    if (one.id) await api.unload(one.id).catch(() => {});
  }

  body() {
    const body = { question: this.question.value.trim(), depth: this.length, documents: this.documents.map((one) => one.id).filter(Boolean) };
    if (this.where.value) body.strategy = this.where.value;
    if (this.confirm.checked) body.confirm_plan = true;
    if (!this.clarify.checked) body.allow_clarification = false;
    if (this.budget.value) body.budget_usd = Number(this.budget.value);
    if (this.provider.value) body.model_provider = this.provider.value;
    if (this.model.value.trim()) body.model_name = this.model.value.trim();
    if (this.workflow.value) body.workflow = this.workflow.value;
    if (this.template.value) body.template = this.template.value;
    return body;
  }

  async submit(event) {
    event.preventDefault();
    if (!this.question.value.trim() || this.sending) return;
    if (this.documents.some((one) => !one.id)) { toast(t("still_uploading")); return; }
    this.sending = this.send.disabled = true;
    try {
      const run = await api.ask(this.body(), this.key);
      sessionStorage.removeItem(DRAFT);
      this.sidebar.load();
      location.hash = `#/runs/${run.id}`;
    } catch (error) {
      this.key = crypto.randomUUID();
      this.fail(error);
    }
    this.sending = this.send.disabled = false;
  }

  close() {
    for (const name of ["ondragenter", "ondragleave", "ondragover", "ondrop"]) this.main[name] = null;
  }
}
