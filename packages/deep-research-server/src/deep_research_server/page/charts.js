// Figures of a report: numbers side by side, or one number over time. Each opens the passage that states it.

import { h, s } from "./dom.js";
import { number, t } from "./i18n.js";

// Draw a figure; `open(passages)` shows the evidence of a point.
export function drawChart(figure, open) {
  const drawn = figure.kind === "line" ? course(figure) : "";
  return h("figure", { class: "figure" }, figure.title && h("figcaption", {}, h("strong", {}, figure.title), figure.unit && h("small", {}, figure.unit)), drawn, bars(figure, open, Boolean(drawn)));
}

function bars(figure, open, isListed) {
  const most = Math.max(...figure.points.map((point) => Math.abs(point.value))) || 1;
  return h("ol", { class: isListed ? "bars listed" : "bars" }, figure.points.map((point) => h("li", {}, h("button", { type: "button", disabled: !point.passages.length, "aria-label": `${point.label}: ${point.display}. ${t("open_evidence")}`, onclick: (event) => { event.stopPropagation(); open(point.passages); } },
    h("span", { class: "bar-label" }, point.label), !isListed && h("span", { class: "bar-track" }, h("span", { class: "bar-fill", css: { "inline-size": `${Math.max(1, (100 * Math.abs(point.value)) / most)}%` } })), h("span", { class: "bar-value" }, point.display)))));
}

function course({ points }) {
  const [width, height, edge] = [640, 230, 44];
  const most = Math.max(...points.map((point) => point.value), 0);
  const least = Math.min(...points.map((point) => point.value), 0);
  const x = (at) => edge + ((width - 2 * edge) * at) / Math.max(1, points.length - 1);
  const y = (value) => height - 30 - ((height - 62) * (value - least)) / (most - least || 1);
  const every = Math.ceil(points.length / 12);
  return s("svg", { viewBox: `0 0 ${width} ${height}`, class: "course", "aria-hidden": "true" },
    s("line", { x1: edge, x2: width - edge, y1: y(0), y2: y(0), class: "axis-line" }),
    s("polyline", { points: points.map((point, at) => `${x(at)},${y(point.value)}`).join(" "), class: "course-line" }),
    points.map((point, at) => [s("circle", { cx: x(at), cy: y(point.value), r: 5, class: "course-dot" }),
      at % every === 0 && [s("text", { x: x(at), y: y(point.value) - 12, class: "value-text", "text-anchor": "middle" }, number(point.value, 6)), s("text", { x: x(at), y: height - 10, class: "axis-text", "text-anchor": "middle" }, point.label.slice(0, 14))]]));
}
