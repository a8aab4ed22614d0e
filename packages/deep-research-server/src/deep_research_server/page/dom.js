// Build elements without markup in strings: text from outside can only ever become text.

const SVG = "http://www.w3.org/2000/svg";

export const h = (tag, props, ...children) => build(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => build(document.createElementNS(SVG, tag), props, children);

function build(element, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "css") for (const [key, one] of Object.entries(value)) element.style.setProperty(key, one);
    else if (element instanceof HTMLElement && name in element && name !== "list" && name !== "form" && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...flat(children));
  return element;
}

function flat(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
}

const PATHS = {
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  question: "M9.2 9a3 3 0 1 1 4.3 2.7c-1 .5-1.5 1.1-1.5 2.3M12 17.5v.01",
  cross: "M7 7l10 10M17 7L7 17",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L20 20",
  doc: "M7 3.5h7l4 4v13H7zM14 3.5v4h4M9.5 12h6M9.5 15.5h6",
  clip: "M17.5 11.5l-6 6a3.5 3.5 0 0 1-5-5l7-7a2.4 2.4 0 0 1 3.4 3.4l-7 7a1.2 1.2 0 0 1-1.7-1.7l6-6",
  arrow: "M5 12h13M12.5 6l6 6-6 6",
  up: "M12 19V6M6 11.5l6-6 6 6",
  down: "M12 5v13M6 12.5l6 6 6-6",
  chevron: "M9 6l6 6-6 6",
  stop: "M7.5 7.5h9v9h-9z",
  flag: "M6 21V4.5h11l-2 4 2 4H6",
  menu: "M4 7h16M4 12h16M4 17h16",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13",
  columns: "M4.5 5h6.5v14H4.5zM13 5h6.5v14H13z",
  download: "M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 19.5h14",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4",
  globe: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM3.5 12h17M12 3.5c3 3 3 14 0 17M12 3.5c-3 3-3 14 0 17",
  book: "M5 4.5h6a2 2 0 0 1 1 1 2 2 0 0 1 1-1h6v14h-6a2 2 0 0 0-1 1 2 2 0 0 0-1-1H5zM12 5.5v14",
  play: "M8 5.5l10 6.5-10 6.5z",
  edit: "M4.5 19.5l1-4.5L16 4.5l3.5 3.5L9 18.5z",
  quote: "M9.5 7C7 8 6 10 6 13v4h4.5v-4.5H8.5c0-1.800.6-2.9 2-3.7zM18 7c-2.5 1-3.5 3-3.5 6v4H19v-4.5h-2c0-1.800.6-2.9 2-3.7z",
  limit: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM6.2 6.2l11.6 11.6",
  chart: "M4.5 19.5h15M7.5 16v-5M12 16V6M16.5 16v-8",
  scale: "M12 4v15M7.5 19.5h9M5 7.5h14M5 7.5l-2.5 6h5zM19 7.5l-2.5 6h5z",
  clock: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 7.5V12l3 2",
  steer: "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 10a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM3.7 11H10M14 11h6.3M12 14v6.5",
  copy: "M8.5 8.5h11v11h-11zM15.5 8.5v-4h-11v11h4",
};

export function icon(name, size = 18) {
  return s("svg", { viewBox: "0 0 24 24", width: size, height: size, "aria-hidden": "true", class: `icon icon-${name}` },
    s("path", { d: PATHS[name], fill: "none", stroke: "currentColor", "stroke-width": "1.7", "stroke-linecap": "round", "stroke-linejoin": "round" }));
}

// Replace what an element holds.
export function fill(element, ...children) {
  element.replaceChildren(...flat(children));
  return element;
}

// The heading of a run: a long one is set smaller.
export function heading(text, lang) {
  const width = [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 2 : 1), 0);
  return h("h1", { lang, class: width > 100 ? "long" : "" }, text);
}

// A text of which two lines are shown until it is opened.
export function folded(text, props) {
  return text.length > 110 ? h("details", { ...props, class: `${props.class} folded` }, h("summary", {}, text)) : h("p", props, text);
}

let live;

// Say something to those who cannot see the screen.
export function announce(text) {
  live ??= document.body.appendChild(h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" }));
  live.textContent = text;
}

export function toast(text, kind = "note") {
  document.querySelector(".toast")?.remove();
  const box = h("div", { class: `toast toast-${kind}`, role: kind === "error" ? "alert" : "status" }, text);
  document.body.append(box);
  setTimeout(() => box.remove(), 7000);
}

// A menu that opens below its button; closed by Escape, by a click elsewhere, or by choosing.
export function menu(button, items, label) {
  const list = h("div", { class: "menu", role: "menu", "aria-label": label, hidden: true });
  const box = h("div", { class: "menu-box" }, button, list);
  const close = (back) => {
    list.hidden = true;
    button.setAttribute("aria-expanded", "false");
    if (back) button.focus();
  };
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => {
    if (!list.hidden) return close(false);
    const made = typeof items === "function" ? items() : items;
    fill(list, made.map((item) => item.isLine ? h("hr", { role: "separator" }) : h("button", { type: "button", role: "menuitem", class: item.danger ? "danger" : "",
      onclick: () => { close(true); item.run(); } }, item.icon && icon(item.icon, 16), h("span", {}, item.text), item.note && h("small", {}, item.note))));
    list.hidden = false;
    button.setAttribute("aria-expanded", "true");
    list.querySelector("button")?.focus();
  });
  box.addEventListener("keydown", (event) => {
    const all = [...list.querySelectorAll("button")];
    const at = all.indexOf(document.activeElement);
    if (event.key === "Escape" && !list.hidden) { event.stopPropagation(); close(true); }
    if (event.key === "ArrowDown" && at >= 0) { event.preventDefault(); all[(at + 1) % all.length].focus(); }
    if (event.key === "ArrowUp" && at >= 0) { event.preventDefault(); all[(at + all.length - 1) % all.length].focus(); }
  });
  box.addEventListener("focusout", (event) => { if (!box.contains(event.relatedTarget)) close(false); });
  return box;
}

// Show a dialog with a heading; closed by its button or Escape, and then `back` has the focus again.
export function dialog({ name, title, head, back, close }, ...parts) {
  const box = h("dialog", { class: name, "aria-label": title, onclose: () => { box.remove(); back?.focus({ preventScroll: true }); } },
    h("header", {}, h("div", {}, h("h2", {}, title), head), h("button", { type: "button", class: "ghost", "aria-label": close, onclick: () => box.close() }, icon("close"))), ...parts);
  document.body.append(box);
  box.showModal();
  return box;
}

// Work through many things without holding the page up: a few milliseconds at a time.
export async function inSlices(things, work) {
  let began = performance.now();
  for (const thing of things) {
    work(thing);
    if (performance.now() - began > 12) {
      await new Promise((resolve) => setTimeout(resolve));
      began = performance.now();
    }
  }
}
