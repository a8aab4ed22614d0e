// The page's frame: sidebar, theme and language, and which view stands in the middle.

import { api, whenDenied } from "./api.js";
import { announce, fill, h, icon, menu, toast } from "./dom.js";
import { languages, load, current, preferred, t } from "./i18n.js";
import { Sidebar } from "./sidebar.js";

const app = document.getElementById("app");
const state = { options: null, view: null, sidebar: null };

function applyTheme(theme) {
  localStorage.setItem("theme", theme);
  document.documentElement.dataset.theme = theme;
}

async function setLanguage(code) {
  localStorage.setItem("language", code);
  await load(code);
  await start();
}

function frame() {
  const main = h("main", { id: "main", tabindex: "-1" });
  state.sidebar = new Sidebar({ onError: fail });
  const opener = h("button", { type: "button", class: "ghost only-narrow", "aria-label": t("open_menu"), "aria-expanded": "false",
    onclick: () => toggleSidebar(!app.classList.contains("sidebar-open")) }, icon("menu", 22));
  const theme = menu(h("button", { type: "button", class: "ghost", "aria-label": t("theme") }, icon("sun")),
    ["auto", "light", "dark"].map((name) => ({ text: t(`theme_${name}`), run: () => applyTheme(name) })), t("theme"));
  const language = menu(h("button", { type: "button", class: "ghost", "aria-label": t("language") }, icon("globe"), h("span", {}, languages()[current()])),
    Object.entries(languages()).map(([code, name]) => ({ text: name, run: () => setLanguage(code) })), t("language"));
  const leave = state.options?.owner ? h("button", { type: "button", class: "ghost", onclick: async () => { await api.logout(); location.hash = ""; location.reload(); } }, t("log_out")) : "";
  state.sidebar.foot(h("div", { class: "sidebar-tools" }, language, theme, leave));
  fill(app, h("a", { class: "skip", href: "#main", onclick: (e) => { e.preventDefault(); main.focus(); } }, t("skip_to_content")),
    h("header", { class: "topbar only-narrow" }, opener, h("a", { href: "#/", class: "brand" }, brand()), h("a", { href: "#/", class: "ghost", "aria-label": t("new_research") }, icon("plus", 22))),
    state.sidebar.element, h("div", { class: "scrim", onclick: () => toggleSidebar(false) }), main);
  state.main = main;
  state.opener = opener;
}

export function brand() {
  return [h("span", { class: "brand-mark", "aria-hidden": "true" }), h("span", {}, "deep", h("b", {}, "research"))];
}

function toggleSidebar(open) {
  app.classList.toggle("sidebar-open", open);
  state.opener?.setAttribute("aria-expanded", String(open));
}

function fail(error) {
  toast(error.message === "offline" ? t("offline") : current() === "en" ? error.message : `${t("failed")}: ${error.message}`, "error");
}

async function route() {
  toggleSidebar(false);
  const [path] = location.hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").map(decodeURIComponent);
  state.view?.close?.();
  state.view = null;
  state.sidebar.select(parts[0] === "runs" ? parts[1] : "");
  // Each view has a place of its own: what arrives for one that was left is shown nowhere.
  const place = h("div", { class: "view" });
  fill(state.main, place);
  scrollTo(0, 0);
  const context = { main: place, options: state.options, sidebar: state.sidebar, fail };
  try {
    if (parts[0] === "runs" && parts[1]) {
      const { RunView } = await import("./run.js");
      state.view = new RunView(context, parts[1], parts[2] ?? "");
    } else if (parts[0] === "compare" && parts[2]) {
      const { CompareView } = await import("./compare.js");
      state.view = new CompareView(context, parts[1], parts[2]);
    } else {
      const { AskView } = await import("./ask.js");
      state.view = new AskView(context);
    }
    await state.view.show();
  } catch (error) {
    if (error.status === 401) return;
    fill(place, h("div", { class: "empty" }, h("h1", {}, error.status === 404 ? t("not_found") : t("failed")), h("p", {}, error.status === 404 ? t("not_found_hint") : error.message), h("p", {}, h("a", { href: "#/", class: "button" }, t("new_research")))));
  }
  if (place.isConnected) announce(document.title);
}

function login() {
  const field = h("input", { type: "password", id: "token", autocomplete: "current-password", required: true, spellcheck: "false" });
  const said = h("p", { class: "error", role: "alert" });
  document.title = "deep-research";
  fill(app, h("main", { class: "login", id: "main" }, h("form", { class: "card", onsubmit: async (event) => {
    event.preventDefault();
    try {
      await api.login(field.value.trim());
      await start();
    } catch (error) { said.textContent = error.status === 401 ? t("token_unknown") : error.message; }
  } }, h("p", { class: "brand" }, brand()), h("h1", {}, t("log_in")), h("label", { for: "token" }, t("token")), field, said,
  h("button", { class: "button", type: "submit" }, t("log_in")), h("p", { class: "hint" }, t("token_hint")))));
  field.focus();
}

async function start() {
  try {
    state.options = await api.options();
  } catch (error) {
    if (error.status === 401) return login();
    fail(error);
    state.options = { providers: [], strategies: [], templates: [], exports: [], uploads: { types: [], megabytes: 0, documents: 0 }, model: "", provider: "", web: "", owner: "" };
  }
  frame();
  state.sidebar.load();
  await route();
}

applyTheme(localStorage.getItem("theme") ?? "auto");
whenDenied(login);
window.addEventListener("hashchange", () => state.sidebar && route());
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, textarea, select")) { event.preventDefault(); state.sidebar?.search(); }
  if (event.key === "Escape") toggleSidebar(false);
});
await load(preferred());
await start();
