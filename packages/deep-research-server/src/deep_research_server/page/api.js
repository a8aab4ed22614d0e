// The HTTP API, as the page uses it.

import { current } from "./i18n.js";

export class ApiError extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

let onDenied = () => {};

export function whenDenied(action) {
  onDenied = action;
}

async function call(method, path, { body, form, headers = {}, text = false } = {}) {
  const options = { method, headers: { accept: "application/json", ...headers }, credentials: "same-origin" };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["content-type"] = "application/json";
  }
  if (form) options.body = form;
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new ApiError(0, "offline");
  }
  if (answer.status === 401 && !path.endsWith("/session")) onDenied();
  if (!answer.ok) {
    const said = await answer.json().catch(() => ({}));
    throw new ApiError(answer.status, said.detail ?? `HTTP ${answer.status}`);
  }
  if (answer.status === 204) return null;
  return text ? answer.text() : answer.json();
}

const at = (id) => `/api/v1/runs/${encodeURIComponent(id)}`;

let uploads = Promise.resolve();

export const api = {
  ready: () => call("GET", "/readyz"),
  options: () => call("GET", "/api/v1/options"),
  login: (token) => call("POST", "/api/v1/session", { body: { token } }),
  logout: () => call("DELETE", "/api/v1/session"),
  runs: (query = {}) => call("GET", `/api/v1/runs?${new URLSearchParams(query)}`),
  run: (id) => call("GET", at(id)),
  ask: (body, key) => call("POST", "/api/v1/runs", { body, headers: { "idempotency-key": key } }),
  verify: (body) => call("POST", "/api/v1/verifications", { body }),
  remove: (id) => call("DELETE", at(id)),
  answer: (id, answer) => call("POST", `${at(id)}/answer`, { body: { answer } }),
  plan: (id, plan) => call("PUT", `${at(id)}/plan`, { body: plan }),
  steer: (id, kind, text = "") => call("POST", `${at(id)}/steer`, { body: { kind, text } }),
  cancel: (id) => call("POST", `${at(id)}/cancel`),
  resume: (id) => call("POST", `${at(id)}/resume`),
  refresh: (id) => call("POST", `${at(id)}/refresh`),
  changes: (id) => call("GET", `${at(id)}/changes`),
  report: (id, language) => call("GET", `${at(id)}/report?language=${language}`),
  sources: (id, all = false) => call("GET", `${at(id)}/sources${all ? "?all=true" : ""}`),
  passage: (id, passage, around = 420) => call("GET", `${at(id)}/passages/${passage}?around=${around}`),
  snapshot: (id, source, start, length) => call("GET", `${at(id)}/sources/${source}/snapshot?start=${start}&length=${length}`),
  followUps: (id) => call("GET", `${at(id)}/follow-ups`),
  followUp: (id, number) => call("GET", `${at(id)}/follow-ups/${number}`),
  askFurther: (id, question) => call("POST", `${at(id)}/follow-ups`, { body: { question } }),
  upload: (file) => {
    const form = new FormData();
    form.append("file", file);
    const sent = uploads.then(() => call("POST", "/api/v1/documents", { form }));
    uploads = sent.catch(() => {}); // one after the other: the server takes few at a time
    return sent;
  },
  unload: (id) => call("DELETE", `/api/v1/documents/${id}`),
  exportPath: (id, format) => `${at(id)}/export/${format}`,
};

// Do work again until the server answers.
export async function whenBack(work) {
  for (;;) {
    try { return await work(); } catch (error) { if (error.message !== "offline") throw error; }
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
}

const KINDS = ["run_started", "stage_started", "progress", "clarification_asked", "understood", "analyzed", "discovered",
  "planned", "section_started", "searched", "section_written", "section_reviewed", "reviewed", "gap_found",
  "steered", "report_piece", "verified", "revised", "report_ready", "run_failed", "run_declined"];

// Follow events; the browser connects again by itself and names the last event it has seen. Returns what ends it.
// Pieces of a report that is being written have no number: whoever connects gets all of them (`onOpen` comes before).
export function follow(path, { onEvent, onEnd, onOpen, onLost, onBack, after = 0 }) {
  let source;
  let lost = false;
  let last = after;
  let timer;
  const open = () => {
    source = new EventSource(`${path}?after=${last}&language=${current()}`);
    source.onopen = () => { onOpen?.(); if (lost) { lost = false; onBack?.(); } };
    source.onerror = () => {
      if (!lost) { lost = true; onLost?.(); }
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, 2000);
    };
    for (const kind of KINDS) source.addEventListener(kind, (message) => {
      const event = JSON.parse(message.data);
      if (kind !== "report_piece") {
        if (event.number <= last) return;
        last = event.number;
      }
      onEvent(event);
    });
    source.addEventListener("end", (message) => { source.close(); onEnd(JSON.parse(message.data).status, last); });
  };
  open();
  return () => { clearTimeout(timer); source.close(); };
}
export const eventsOf = (id) => `${at(id)}/events`;
export const followUpEventsOf = (id, number) => `${at(id)}/follow-ups/${number}/events`;
