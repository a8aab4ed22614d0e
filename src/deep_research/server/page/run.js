// One run: its progress while it goes on, its report when it is there.

import { api } from "./api.js";

export class RunView {
  constructor(context, id, tab) {
    Object.assign(this, { context, id, tab });
  }

  async show() {
    const run = await api.run(this.id);
    if (run.has_report) return this.report(run);
    const { LiveView } = await import("./live.js");
    this.inner = new LiveView(this.context, run, () => this.done());
    this.inner.show();
  }

  async report(run) {
    const { ReportView } = await import("./report.js");
    this.inner = new ReportView(this.context, run, this.tab);
    await this.inner.show();
  }

  async done() {
    this.inner.close();
    this.context.sidebar.load();
    const run = await api.run(this.id);
    if (run.has_report) await this.report(run);
  }

  close() { this.inner?.close(); }
}
