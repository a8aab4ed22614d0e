// Markdown of a report as elements. Only what reports are made of; no HTML, no images; links to the web alone.
// Citations, [3] or [s7p3], become buttons by `cite(key)`.

import { h } from "./dom.js";

const ITEM = /^(\s*)(?:([-*+•])|(\d{1,3})[.)])\s+(.*)$/;
const HEADING = /^(#{1,6})\s+(.*)$/;
const RULE = /^\|?:?-{2,}:?(\|:?-{2,}:?)*\|?$/; // of a line without its blanks
const INLINE = /\\([!-/:-@[-`{-~])|(`{1,9})([\s\S]{0,3000}?[^`])\2(?!`)|(\*\*|__)(?=\S)([\s\S]{0,3000}?\S)\4|(\*|_)(?=\S)((?:[^*_\\]|\\.){0,3000}?\S)\6(?![\w])|\[(\d{1,4}|s\d+p\d+(?:\s*[,;]\s*s\d+p\d+)*)\](?!\()|\[((?:[^\]\\]|\\.){1,500})\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>()\]"'\uff0c\u3002\u3001\uff1b\uff09\u300d\u300f]+)|&(amp|lt|gt|quot|#39|nbsp);/g;
const DEEPEST = 20; // what is quoted or listed deeper is text: a line of ">" would end the page
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

export function inline(text, cite) {
  const out = [];
  let last = 0;
  for (const m of text.matchAll(INLINE)) {
    if (m.index > last) out.push(text.slice(last, m.index));
    last = m.index + m[0].length;
    if (m[1]) out.push(m[1]);
    else if (m[2]) out.push(h("code", {}, m[3].replace(/^ (.*\S.*) $/s, "$1")));
    else if (m[4]) out.push(h("strong", {}, inline(m[5], cite)));
    else if (m[6]) out.push(h("em", {}, inline(m[7], cite)));
    else if (m[8]) out.push(tied(out, m[8].split(/\s*[,;]\s*/).map((key) => (cite ? cite(key) : `[${key}]`))));
    else if (m[9]) out.push(anchor(m[10], m[9].replace(/\\(.)/g, "$1")));
    else if (m[11]) {
      const address = m[11].replace(/[.,;:!?]+$/, "");
      out.push(anchor(address, address), m[11].slice(address.length));
    } else if (m[12]) out.push(ENTITIES[m[12]]);
  }
  if (last < text.length) out.push(text.slice(last));
  return out;
}

// Citations do not begin a line: they are tied to the end of what stands before them.
function tied(out, cites) {
  const before = out.at(-1);
  if (before?.className === "tied") { before.append(...cites); return ""; }
  const [end] = (typeof before === "string" && /(?:[^\s\u3040-\u9fff\uac00-\ud7af]{1,24}|\S) ?$/u.exec(before)) || [];
  if (!end) return cites;
  out[out.length - 1] = before.slice(0, -end.length);
  return h("span", { class: "tied" }, end, cites);
}

export function anchor(address, text) {
  if (!/^https?:\/\//i.test(address)) return text;
  return h("a", { href: address, target: "_blank", rel: "noopener noreferrer nofollow" }, text);
}

function cells(line) {
  const found = [];
  let cell = "";
  const body = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
  for (let at = 0; at < body.length; at++) {
    if (body[at] === "\\" && body[at + 1] === "|") { cell += "|"; at++; }
    else if (body[at] === "|") { found.push(cell.trim()); cell = ""; }
    else cell += body[at];
  }
  return [...found, cell.trim()];
}

// Return the blocks of a text: {type, level, text, lines, rows, ordered, items}.
export function blocks(markdown, depth = 0) {
  const lines = markdown.split(/\r?\n/);
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    let m;
    if (!line.trim()) at++;
    else if ((m = /^(`{3,}|~{3,})\s*(\S*)/.exec(line))) {
      const body = [];
      for (at++; at < lines.length && !lines[at].startsWith(m[1]); at++) body.push(lines[at]);
      at++;
      found.push({ type: "code", info: m[2], text: body.join("\n") });
    } else if ((m = HEADING.exec(line))) { found.push({ type: "heading", level: m[1].length, text: m[2].trimEnd().replace(/(?<!#)#{1,99}$/, "").trimEnd() }); at++; }
    else if (/^\s*(-{3,}|\*{3,}|_{3,})\s*$/.test(line)) { found.push({ type: "rule" }); at++; }
    else if (depth < DEEPEST && /^\s*>/.test(line)) {
      const body = [];
      for (; at < lines.length && /^\s*>/.test(lines[at]); at++) body.push(lines[at].replace(/^\s*> ?/, ""));
      found.push({ type: "quote", blocks: blocks(body.join("\n"), depth + 1) });
    } else if (line.includes("|") && at + 1 < lines.length && RULE.test(lines[at + 1].replace(/\s+/g, ""))) {
      const head = cells(line);
      const rows = [];
      for (at += 2; at < lines.length && lines[at].includes("|") && lines[at].trim(); at++) rows.push(cells(lines[at]));
      found.push({ type: "table", head, rows });
    } else if ((m = ITEM.exec(line))) {
      const ordered = m[3] !== undefined;
      const indent = m[1].length;
      const list = { type: "list", depth, ordered, start: ordered ? Number(m[3]) : 1, items: [] };
      while (at < lines.length) {
        const one = ITEM.exec(lines[at]);
        if (one && one[1].length <= indent + 1 && (one[3] !== undefined) === ordered) { list.items.push([one[4]]); at++; }
        else if (list.items.length && lines[at].trim() && (one || /^\s{2,}/.test(lines[at]))) { list.items.at(-1).push(lines[at].slice(Math.min(indent + 2, lines[at].search(/\S/)))); at++; }
        else if (!lines[at].trim() && at + 1 < lines.length && (ITEM.test(lines[at + 1]) || /^\s{2,}\S/.test(lines[at + 1]))) {
          const next = ITEM.exec(lines[at + 1]);
          if (next && next[1].length <= indent + 1 && (next[3] !== undefined) !== ordered) break;
          list.items.at(-1).push("");
          at++;
        } else break;
      }
      found.push(list);
    } else {
      const body = [];
      for (; at < lines.length && lines[at].trim() && !HEADING.test(lines[at]) && !(body.length && /^\s*>/.test(lines[at])) && !/^(`{3,}|~{3,})/.test(lines[at]) && !(body.length && ITEM.test(lines[at])); at++) body.push(lines[at]);
      found.push({ type: "paragraph", lines: body });
    }
  }
  return found;
}

function withBreaks(lines, cite) {
  return lines.flatMap((line, at) => {
    const broken = line.endsWith("  ") || line.endsWith("\\");
    const said = inline((line.endsWith("\\") ? line.slice(0, -1) : line).trim(), cite);
    return at === lines.length - 1 ? said : [...said, broken ? h("br") : " "];
  });
}

// `chart(text)` returns what is drawn for a block of code named chart, or nothing.
export function block(one, cite, chart) {
  switch (one.type) {
    case "heading": return h(`h${Math.min(6, one.level + 1)}`, {}, inline(one.text, cite));
    case "paragraph": {
      const made = h("p", {}, withBreaks(one.lines, cite));
      if (made.childNodes.length === 1 && made.firstChild.tagName === "EM") made.className = "aside";
      return made;
    }
    case "code": return (one.info === "chart" && chart?.(one.text)) || h("pre", { tabindex: "0" }, h("code", {}, one.text));
    case "quote": return h("blockquote", {}, one.blocks.map((inner) => block(inner, cite)));
    case "rule": return h("hr");
    case "list": return h(one.ordered ? "ol" : "ul", { start: one.ordered && one.start !== 1 ? one.start : undefined },
      one.items.map((lines) => {
        if (one.depth >= DEEPEST) return h("li", {}, withBreaks(lines, cite));
        const rest = lines.slice(1).join("\n");
        const nested = rest.trim() ? blocks(rest, one.depth + 1) : [];
        if (nested.length && nested[0].type === "paragraph" && lines[1]?.trim()) {
          const first = nested.shift();
          return h("li", {}, withBreaks([lines[0], ...first.lines], cite), nested.map((inner) => block(inner, cite)));
        }
        return h("li", {}, inline(lines[0], cite), nested.map((inner) => block(inner, cite)));
      }));
    case "table": return table(one, () => false, cite);
  }
  return "";
}

// Return a table as elements; the rows that `isStrong` names stand out.
export function table(one, isStrong, cite) {
  return h("div", { class: "table-box", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, one.head.map((cell) => h("th", { scope: "col" }, inline(cell, cite))))),
    h("tbody", {}, one.rows.map((row) => h("tr", { class: isStrong(row) && "strong" }, row.map((cell) => h("td", {}, inline(cell, cite))))))));
}

// Return the table that a text is, null for any other text.
export function tableOf(text) {
  const found = /^\|/.test(text) ? blocks(text) : [];
  return found.length === 1 && found[0].type === "table" ? found[0] : null;
}

export function render(markdown, cite, chart) {
  return blocks(markdown).map((one) => block(one, cite, chart));
}
