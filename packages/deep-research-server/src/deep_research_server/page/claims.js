// The statements of a report in its rendered text: where each stands, and what became of it.

import { h } from "./dom.js";
import { t } from "./i18n.js";

export const VERDICTS = ["supported", "own", "misleading", "unverified", "contradicted"];
export const VERDICT_ICONS = { supported: "check", own: "edit", misleading: "question", unverified: "question", contradicted: "cross" };
const DOUBT = "\u00b0";
// Signs of a private plane mark where a statement begins (one for each) and where one ends; no font and no rule knows them.
const FIRST = 0xf0000;
const END = String.fromCodePoint(0x100000);
const MARKS = /([\u{f0000}-\u{100000}])/gu;
const PREFIX = /^(?:[\s>|]|#{1,6}[ \t]|[*+-][ \t]|\d{1,9}[.)][ \t])*/u;

export const withoutMarks = (text) => text.replace(MARKS, "");

// Return the report's Markdown with a mark at the beginning and at the end of each statement. Offsets count code points.
export function markedText(report) {
  const signs = Array.from(report.report.replace(MARKS, "\ufffd"));
  const parts = [];
  let at = 0;
  const places = report.claims.map((claim, number) => ({ claim, number })).sort((a, b) => a.claim.start - b.claim.start);
  for (const { claim, number } of places) {
    const said = signs.slice(claim.start, claim.end);
    const before = Array.from(PREFIX.exec(said.join(""))[0]).length;
    let length = said.length;
    while (length > before && /[\s|]/.test(said[length - 1])) length--;
    const start = claim.start + before;
    if (start < at || length <= before || /^(```|~~~)/.test(said.slice(before, before + 3).join(""))) continue;
    parts.push(...signs.slice(at, start), String.fromCodePoint(FIRST + number), ...said.slice(before, length), END);
    at = claim.start + length;
  }
  return [...parts, ...signs.slice(at)].join("");
}

export class ClaimMarks {
  constructor(claims, open) {
    Object.assign(this, { claims, open });
    this.marked = new Map();
  }

  // Take the marks out of an element, and wrap what stands between them. Returns whether it holds a statement.
  mark(element) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const nodes = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) nodes.push(node);
    let [found, place, behindCite] = [false, null, false];
    for (const node of nodes) {
      const own = node.parentElement.closest("p, li, tr, h1, h2, h3, h4, h5, h6, pre");
      if (own !== place) { [place, behindCite, this.claim, this.last] = [own, false, null, null]; }
      const cite = node.parentElement.closest(".cite");
      if (cite) {
        behindCite = true;
        if (this.last) cite.dataset.claim = this.last.id;
        continue;
      }
      const pieces = node.data.split(MARKS).filter((piece) => piece);
      const made = [];
      for (const piece of pieces) {
        const sign = piece.codePointAt(0);
        if (piece === END) this.claim = null;
        else if (sign >= FIRST) { this.claim = this.last = this.claims[sign - FIRST] ?? null; found ||= Boolean(this.claim); }
        else {
          const isDoubt = behindCite && piece.startsWith(DOUBT);
          if (isDoubt) made.push(this.doubt());
          const rest = isDoubt ? piece.slice(1) : piece;
          if (rest) made.push(this.wrap(rest));
          behindCite = false;
        }
      }
      if (pieces.length > 1 || made[0] instanceof Element) node.replaceWith(...made);
      else if (pieces[0] !== undefined && !made.length) node.remove();
    }
    return found;
  }

  wrap(text) {
    const { claim } = this;
    if (!claim || !/\S/.test(text)) return text;
    const span = h("span", { class: `claim verdict-${claim.verdict.kind}`, data: { claim: claim.id }, title: claim.verdict.kind === "own" ? t("own_statement") : undefined,
      onclick: (event) => { if (!getSelection().toString()) { event.stopPropagation(); this.open(claim.id); } } }, text);
    this.marked.set(claim.id, [...(this.marked.get(claim.id) ?? []), span]);
    return span;
  }

  // The quiet mark behind a statement that is not confirmed: why stands there when it is pointed at.
  doubt() {
    const claim = this.last;
    const kind = claim?.verdict.kind ?? "unverified";
    const told = [t(`verdict_${kind}`), claim?.verdict.reason].filter(Boolean).join(": ");
    return h("button", { type: "button", class: `doubt verdict-${kind}`, title: told, "aria-label": told, onclick: (event) => { event.stopPropagation(); if (claim) this.open(claim.id); } }, DOUBT);
  }
}

// The words of a text, of Chinese and its like the pairs of signs, by which texts are compared.
export function terms(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(word) ? [...word].map((sign, at) => sign + (word[at + 1] ?? "")) : [word]));
}
