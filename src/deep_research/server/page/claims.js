// Find the claims of a report in its rendered text, and mark them: what kind each is, and how it was judged.

import { h } from "./dom.js";
import { t } from "./i18n.js";

export const KINDS = ["fact", "computed", "inference", "advice", "limit", "background"];
export const VERDICTS = ["supported", "unverified", "contradicted"];
export const KIND_ICONS = { fact: "quote", computed: "sum", inference: "bulb", advice: "compass", limit: "limit", background: "book" };

// Where the report tells workings apart, a claim still has them: "68 (= 8 \u00d7 1024 \u00f7 120)".
const WORKING = / ?[(\uff08]= (?:[^()\uff08\uff09\n]|\([^()\n]*\))*[)\uff09]/g;
const plain = (text) => text.replace(WORKING, "").replace(/\[(?:\d{1,4}|s\d+p\d+)(?:\s*[,;]\s*s\d+p\d+)*\]/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1").replace(/\*\*|__|`/g, "").replace(/(^|\W)[*_](?=\S)|(?<=\S)[*_](?=\W|$)/g, "$1");

// Return a text without spaces and marks, with the place of each sign that is left.
function squeezed(text) {
  const signs = [];
  const places = [];
  let at = 0;
  for (const sign of text.normalize("NFC")) {
    if (!/[\s*_`\u2020\u2021\u207c]/.test(sign)) { signs.push(sign.toLowerCase()); places.push(at); }
    at += sign.length;
  }
  return [signs.join(""), places];
}

export class ClaimMarks {
  constructor(claims, open) {
    this.open = open;
    this.left = new Map();
    this.marked = new Map();
    for (const claim of claims) {
      const [key] = squeezed(plain(claim.text).replace(/^\s*[-*•|]\s*/, "").replace(/[.\u3002]\s*$/, ""));
      if (key.length < 4) continue;
      const section = claim.section ?? "";
      if (!this.left.has(section)) this.left.set(section, []);
      this.left.get(section).push({ claim, key });
    }
  }

  // Mark the claims of a section in a block of text.
  mark(element, section) {
    const waiting = this.left.get(section);
    if (!waiting?.length) return;
    for (const block of element.matches("p, li, td, h3, h4") ? [element] : element.querySelectorAll("p, li, td")) this.markBlock(block, waiting);
  }

  markBlock(block, waiting) {
    const nodes = [];
    let text = "";
    const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.parentElement.closest(".cite, .claim") || (node.parentElement !== block && node.parentElement.closest("li, p, td") !== block)) continue;
      nodes.push([node, text.length]);
      text += node.data;
    }
    const [line, places] = squeezed(text);
    if (line.length < 4) return;
    const found = [];
    for (const entry of waiting) {
      const at = line.indexOf(entry.key);
      if (at < 0) continue;
      const from = places[at];
      let to = at + entry.key.length < places.length ? places[at + entry.key.length] : text.length;
      if (found.some((one) => from < one.to && to > one.from)) continue;
      const tail = /^[.\u3002!?\uff01\uff1f\u2026"\u201d\u2019)\uff09\u2020\u2021\u207c\]]*/.exec(text.slice(to))[0].length;
      found.push({ ...entry, from, to: to + tail });
    }
    for (const one of found.sort((a, b) => b.from - a.from)) this.wrap(nodes, one);
  }

  wrap(nodes, { claim, from, to }) {
    const spans = [];
    for (let at = nodes.length - 1; at >= 0; at--) {
      const [node, start] = nodes[at];
      const begin = Math.max(from - start, 0);
      const end = Math.min(to - start, node.data.length);
      if (begin >= end) continue;
      let piece = node;
      if (end < node.data.length) piece.splitText(end);
      if (begin > 0) piece = piece.splitText(begin);
      const span = h("span", { class: `claim kind-${claim.kind} verdict-${claim.verdict.kind}`, data: { claim: claim.id },
        onclick: (event) => { if (!getSelection().toString()) { event.stopPropagation(); this.open(claim.id); } } });
      piece.replaceWith(span);
      span.append(piece);
      spans.unshift(span);
    }
    if (!spans.length) return;
    if (claim.kind !== "fact") spans[0].prepend(h("span", { class: "kind-sign", title: t(`kind_${claim.kind}`), "aria-label": t(`kind_${claim.kind}`), role: "img" }));
    if (claim.verdict.kind !== "supported" && claim.kind !== "background") spans.at(-1).append(h("span", { class: "verdict-sign", title: t(`verdict_${claim.verdict.kind}`), "aria-label": t(`verdict_${claim.verdict.kind}`), role: "img" }));
    const known = this.marked.get(claim.id) ?? [];
    this.marked.set(claim.id, [...known, ...spans]);
  }
}

// The words of a text, of Chinese and its like the pairs of signs, by which texts are compared.
export function terms(text) {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.flatMap((word) => (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(word) ? [...word].map((sign, at) => sign + (word[at + 1] ?? "")) : [word]));
}

// The claim that a citation button belongs to: the marked one it stands in or behind, that cites this source.
export function claimAt(button, byId, passages) {
  const box = button.closest("p, li, td, tr");
  const before = [...(box?.querySelectorAll(".claim") ?? [])].filter((one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING || one.contains(button));
  for (const span of before.reverse()) {
    const claim = byId.get(span.dataset.claim);
    if (claim?.passages.some((key) => passages.includes(key))) return claim;
  }
  const said = new Set(terms(saidBefore(button)));
  let best = { score: 0 };
  for (const claim of byId.values()) {
    if (!claim.passages.some((key) => passages.includes(key))) continue;
    const words = terms(claim.text);
    const share = words.filter((word) => said.has(word)).length / Math.max(1, words.length);
    const score = share < 0.85 ? 0 : share * words.length;
    if (score > best.score) best = { score, claim };
  }
  return best.claim ?? null;
}

// What a citation button stands behind: its row below the header, or its paragraph since the citation before.
export function saidBefore(button) {
  const cells = [...(button.closest("table")?.tHead?.rows[0]?.cells ?? []), ...(button.closest("tr")?.cells ?? [])];
  if (cells.length) return cells.map((cell) => cell.textContent).join(" ");
  const range = document.createRange();
  range.selectNodeContents(button.closest("p, li") ?? button);
  range.setEndBefore(button);
  const all = range.toString();
  const before = [...(button.closest("p, li")?.querySelectorAll(".cite") ?? [])].filter((one) => one.compareDocumentPosition(button) & Node.DOCUMENT_POSITION_FOLLOWING).at(-1);
  if (!before) return all;
  range.setStartAfter(before);
  return range.toString().trim() || all;
}
