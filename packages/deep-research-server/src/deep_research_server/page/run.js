// One run: its progress while it goes on, its report when it is there.

import { api, whenBack } from "./api.js";

export class RunView {
  constructor(context, id, tab) {
    Object.assign(this, { context, id, tab });
  }

  async show() {
    const run = await api.run(this.id);
    if (this.isClosed) return; // the user has gone on meanwhile
    if (run.has_report) return this.report(run);
    const { LiveView } = await import("./live.js");
    if (this.isClosed) return;
    this.inner = new LiveView(this.context, run, () => this.done());
    this.inner.show();
  }

  async report(run) {
    const { ReportView } = await import("./report.js");
    if (this.isClosed) return;
    this.inner = new ReportView(this.context, run, this.tab);
    await this.inner.show();
  }

  async done() {
    const run = await whenBack(() => api.run(this.id));
    this.inner.close();
    this.context.sidebar.load();
    if (run.has_report && !this.isClosed) await this.report(run);
  }

  close() {
    this.isClosed = true;
    this.inner?.close();
  }
}
