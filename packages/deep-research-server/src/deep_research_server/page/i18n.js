// The texts of the page, by language; English stands in for what a language lacks.

let names = {};
const texts = {};
let language = "en";

export function current() {
  return language;
}

export function languages() {
  return names;
}

const get = async (name) => (await fetch(`/page/texts/${name}.json`)).json();

export async function load(wanted) {
  if (!Object.keys(names).length) names = await get("languages");
  language = wanted in names ? wanted : "en";
  await Promise.all([...new Set(["en", language])].map(async (code) => {
    texts[code] ??= await get(code);
  }));
  document.documentElement.lang = language;
}

// The language that the user chose before, else the first of the browser's; unknown ones mean English.
export function preferred() {
  return localStorage.getItem("language") ?? (navigator.language ?? "en").slice(0, 2);
}

export function t(name, values = {}) {
  const own = texts[language] ?? {};
  const said = (values.n === 1 ? own[`${name}_one`] : undefined) ?? own[name] ?? texts.en?.[name] ?? name;
  return said.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}

// The text of a name that a run may give; the name itself where there is none.
export function named(kind, name) {
  const said = t(`${kind}_${name}`);
  return said === `${kind}_${name}` ? name : said;
}

export const number = (value, digits = 0) => new Intl.NumberFormat(language, { maximumFractionDigits: digits }).format(value);
export const day = (text) => (text ? new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(new Date(text)) : "");
export const moment = (text) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(text));

export function duration(seconds) {
  if (seconds < 60) return t("seconds", { n: number(seconds, seconds < 10 ? 1 : 0) });
  if (seconds < 3600) return t("minutes", { n: Math.floor(seconds / 60), s: String(Math.floor(seconds % 60)).padStart(2, "0") });
  return t("hours", { n: Math.floor(seconds / 3600), m: String(Math.floor((seconds % 3600) / 60)).padStart(2, "0") });
}

export const money = (usd) => (usd === null ? t("price_unknown") : usd ? `$${usd < 0.01 ? usd.toFixed(4) : usd.toFixed(2)}` : "$0");
