// The evidence beside a report: a claim with its verdict, its passages, and each passage highlighted in its snapshot.

import { api } from "./api.js";
import { announce, dialog, fill, h, icon } from "./dom.js";
import { day, named, number, t } from "./i18n.js";
import { VERDICT_ICONS, terms } from "./claims.js";
import { anchor, inline, table, tableOf } from "./markdown.js";

const WINDOW = 40000;
const IDS = / ?\[(?:\d{1,4}|s\d+p\d+)\]/g;
const known = new Map();

function passageOf(run, key) {
  const name = `${run}/${key}`;
  if (!known.has(name)) known.set(name, api.passage(run, key).catch((error) => { known.delete(name); throw error; }));
  return known.get(name);
}

export class Evidence {
  constructor(run, { onClose, steps } = {}) {
    Object.assign(this, { run, onClose, steps });
    this.body = h("div", { class: "evidence-body" });
    this.title = h("h2", { tabindex: "-1" }, t("evidence"));
    this.place = h("span", { class: "evidence-place" });
    const step = (by, label, sign) => h("button", { type: "button", class: "ghost", "aria-label": label, title: label, onclick: () => this.steps?.(by) }, icon(sign, 16));
    this.element = h("aside", { class: "evidence", "aria-label": t("evidence"), hidden: true, onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); this.hide(); } } },
      h("header", {}, this.title, this.place, steps && step(-1, t("previous_claim"), "up"), steps && step(1, t("next_claim"), "down"),
        h("button", { type: "button", class: "ghost", "aria-label": t("close"), onclick: () => this.hide() }, icon("close"))), this.body);
  }

  show() {
    if (this.element.hidden) this.back = document.activeElement;
    this.element.hidden = false;
    document.body.classList.add("with-evidence");
  }

  hide() {
    if (this.element.hidden) return;
    this.element.hidden = true;
    document.body.classList.remove("with-evidence");
    this.onClose?.();
    this.back?.isConnected && this.back.focus({ preventScroll: true });
  }

  // Show a statement with its verdict, the problems that a verifier found in it, and its passages, `prefer` first.
  openClaim(claim, place, { prefer = [], problems = [] } = {}) {
    this.show();
    this.place.textContent = place ?? "";
    const keys = [...claim.passages].sort((a, b) => prefer.includes(b) - prefer.includes(a));
    const { kind, reason, by_model: byModel } = claim.verdict;
    const why = [reason, byModel && t("judged_by_model")].filter(Boolean).join(" · ");
    fill(this.body,
      h("div", { class: "badges" }, verdictBadge(kind)),
      h("blockquote", { class: "claim-text" }, claimText(claim)),
      why && h("p", { class: "reason" }, icon(VERDICT_ICONS[kind], 15), h("span", {}, why)),
      problems.map((one) => h("p", { class: "reason" }, icon("flag", 15), h("span", {}, [one.problem, one.evidence].filter(Boolean).join(" ").replace(IDS, "")))),
      keys.length > 0 && h("h3", {}, keys.length > 1 ? t("n_passages", { n: keys.length }) : t("passage")),
      keys.map((key) => this.card(key, claim.text)),
      !keys.length && h("p", { class: "hint" }, t(kind === "own" ? "own_statement" : "no_passage")));
    this.body.scrollTop = 0;
    announce(t(`verdict_${kind}`));
  }

  openPassages(keys, text = "") {
    this.show();
    this.place.textContent = "";
    fill(this.body, h("h3", {}, keys.length > 1 ? t("n_passages", { n: keys.length }) : t("passage")), keys.map((key) => this.card(key, text)));
    this.body.scrollTop = 0;
    this.title.focus({ preventScroll: true });
  }

  card(key, claim) {
    const box = h("article", { class: "passage busy", "aria-busy": "true" });
    passageOf(this.run, key).then((passage) => this.drawCard(box, passage, claim), (error) => fill(box, h("p", { class: "error" }, error.message)));
    return box;
  }

  drawCard(box, passage, claim) {
    const { source } = passage;
    box.classList.remove("busy");
    box.removeAttribute("aria-busy");
    const path = passage.heading.split(" > ").filter((name) => name !== source.title).join(" › ");
    const place = [passage.page && t("page_n", { n: passage.page }), path].filter(Boolean).join(" · ");
    fill(box,
      h("header", {}, h("h4", {}, source.title), sourceFacts(source)),
      place && h("p", { class: "passage-place" }, place),
      h("div", { class: "context" }, passage.before && h("span", { class: "around" }, "… ", loose(tail(passage.before))), h("mark", {}, shown(passage.text, claim)), passage.after && h("span", { class: "around" }, loose(head(passage.after)), " …")),
      !passage.is_current && h("p", { class: "hint" }, t("read_again_since")),
      h("footer", {}, h("button", { type: "button", class: "chip", onclick: () => openSnapshot(this.run, passage) }, icon("book", 15), t("in_snapshot")),
        source.url && (() => { const link = anchor(source.url, t("open_source")); link.className = "chip"; link.append(icon("link", 14)); return link; })(),
        h("button", { type: "button", class: "chip", onclick: async (event) => { await navigator.clipboard?.writeText(passage.text); event.currentTarget.lastChild.textContent = t("copied"); } }, icon("copy", 14), h("span", {}, t("copy_quote"))),
        h("code", { class: "passage-id", title: t("passage_id") }, passage.id)));
    const strong = box.querySelector(".context strong");
    if (strong) strong.closest(".context").scrollTop = strong.offsetTop - 70;
  }

  close() {
    document.body.classList.remove("with-evidence");
    this.element.remove();
  }
}

// The heading that a claim stands under, and the columns of its table where it is a row of one: they end its place.
export function placeOf({ text, where }) {
  const parts = where.split(" › ");
  const columns = parts.at(-1).split(" | ");
  return columns.length > 1 && columns.length === text.split(" | ").length ? { heading: parts.slice(0, -1).join(" › "), columns } : { heading: where, columns: [] };
}

// A claim as it is shown by itself: that of a table's row by its columns.
export function claimText(claim) {
  const [, ...names] = placeOf(claim).columns;
  if (!names.length) return inline(claim.text);
  const [first, ...values] = claim.text.split(" | ");
  return [h("b", {}, inline(first)), h("span", { class: "row-claim" }, names.map((name, at) => h("span", {}, h("small", {}, inline(name)), " ", inline(values[at]))))];
}

const tail = (text) => text.slice(-220).replace(/^\S*\s/, "");
const head = (text) => text.slice(0, 220).replace(/\s\S*$/, "");

export function verdictBadge(kind) {
  return h("span", { class: `badge verdict-${kind}` }, icon(VERDICT_ICONS[kind], 14), t(`verdict_${kind}`));
}

export function sourceFacts(source) {
  const host = source.url ? new URL(source.url).hostname.replace(/^www\./, "") : source.location || named("source", source.origin);
  const standing = source.status && source.status !== "active" ? named("standing", source.status) : "";
  return h("p", { class: "source-facts" }, h("span", {}, host), source.date && h("span", {}, source.date), standing && h("span", { class: `standing standing-${source.status}` }, standing, source.by && ` (${source.by})`), source.retrieved_at && h("span", {}, t("read_on", { date: day(source.retrieved_at) })));
}

// Return a passage as it is shown: its tables as tables, its headings without their signs, and made stronger the
// sentence or the row that says the claim most nearly. The snapshot shows the text as it was read.
function shown(text, claim) {
  const words = new Set(terms(claim));
  const parts = text.split(/((?:^\|.*\|[ \t]*(?:\n|$)){2,})/m).map((part) => (tableOf(part) ?? part));
  const pieces = parts.flatMap((part) => (part.rows ? part.rows.map((row) => ({ part, row, said: row.join(" ") }))
    : [...part.matchAll(/\S[^\n]*?(?:[.!?]+["'\u201d\u2019)\]]*(?=\s|$)|[\u3002\uff01\uff1f]+|(?=\n|$))/g)].map((m) => ({ part, from: m.index, said: m[0].trimEnd() }))));
  let best = { score: 0.3 };
  for (const piece of pieces) {
    const own = terms(piece.said);
    const shared = own.filter((word) => words.has(word)).length;
    const score = own.length && words.size ? shared / Math.sqrt(own.length * words.size) : 0;
    if (shared > 1 && score > best.score) best = { ...piece, score };
  }
  return parts.flatMap((part) => {
    if (part.rows) return [table(part, (row) => row === best.row)];
    if (part !== best.part) return headings(part);
    return [...headings(part.slice(0, best.from)), h("strong", {}, best.said), ...headings(part.slice(best.from + best.said.length))];
  });
}

function headings(piece) {
  return piece.split(/^(#{1,6} .*)$/m).map((part) => (/^#{1,6} /.test(part) ? h("b", {}, part.replace(/^#+ /, "")) : part));
}

// What stands around a passage is cut anywhere: of tables and headings there the words are enough.
const loose = (text) => text.replace(/^#{1,6} /gm, "").replace(/^\|[\s|:-]+\|?$\n?/gm, "").replace(/^\| | \|$/gm, "").replaceAll(" | ", " · ");

// Show the whole text of a source as it was read, scrolled to the passage.
export async function openSnapshot(run, passage) {
  const { source } = passage;
  const body = h("div", { class: "snapshot-text", tabindex: "0", lang: "" });
  const said = h("p", { class: "hint" });
  dialog({ name: "snapshot", title: source.title, head: sourceFacts(source), back: document.activeElement, close: t("close") },
    body, h("footer", {}, said, source.sha256 && h("code", { title: t("sha256") }, `SHA-256 ${source.sha256.slice(0, 16)}…`)));
  try {
    const start = Math.max(0, passage.start - WINDOW / 2);
    const shown = await api.snapshot(run, source.id, start, WINDOW);
    // Offsets count code points, the page's strings UTF-16 units.
    const signs = Array.from(shown.text);
    const cut = (from, to) => signs.slice(Math.max(0, from - shown.start), Math.max(0, to - shown.start)).join("");
    const mark = h("mark", { tabindex: "-1" }, cut(passage.start, passage.end));
    const current = passage.is_current && mark.textContent === passage.text;
    fill(body, current ? [h("span", {}, cut(shown.start, passage.start)), mark, h("span", {}, cut(passage.end, shown.end))] : [h("p", { class: "hint" }, t("read_again_since")), shown.text]);
    said.textContent = t("snapshot_place", { from: number(passage.start), to: number(passage.end), total: number(shown.total) });
    if (current) { mark.scrollIntoView({ block: "center" }); mark.focus({ preventScroll: true }); }
  } catch (error) { fill(body, h("p", { class: "error" }, error.message)); }
}
