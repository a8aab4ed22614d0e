-- Runs with all that is kept of them. Texts of strangers are bytes: PostgreSQL's text refuses NUL and lone surrogates.
CREATE TABLE deep_research.runs (
  run_id text PRIMARY KEY,
  owner text NOT NULL DEFAULT '',
  created text NOT NULL,
  status text NOT NULL,
  record text NOT NULL,
  result bytea,
  fence bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  lease_until timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE INDEX runs_of_owner ON deep_research.runs (owner, created DESC);

CREATE TABLE deep_research.calls (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  key text NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL,
  request bytea NOT NULL,
  answer bytea NOT NULL,
  at double precision NOT NULL,
  seconds double precision NOT NULL,
  PRIMARY KEY (run_id, key)
);

CREATE TABLE deep_research.notes (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  kind text NOT NULL,
  request text NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  answer bytea NOT NULL,
  PRIMARY KEY (run_id, kind, request)
);

CREATE TABLE deep_research.events (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  part text NOT NULL,
  number integer NOT NULL,
  line text NOT NULL,
  PRIMARY KEY (run_id, part, number)
);

CREATE TABLE deep_research.steers (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  number bigint GENERATED ALWAYS AS IDENTITY,
  steer text NOT NULL,
  PRIMARY KEY (run_id, number)
);

CREATE TABLE deep_research.follow_ups (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  number integer NOT NULL,
  made bytea NOT NULL,
  PRIMARY KEY (run_id, number)
);

CREATE TABLE deep_research.texts (sha256 text PRIMARY KEY, body bytea NOT NULL);

CREATE TABLE deep_research.sources (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  number integer NOT NULL,
  facts bytea NOT NULL,
  PRIMARY KEY (run_id, number)
);

CREATE TABLE deep_research.snapshots (
  run_id text NOT NULL REFERENCES deep_research.runs ON DELETE CASCADE,
  number integer NOT NULL,
  source integer NOT NULL,
  sha256 text NOT NULL REFERENCES deep_research.texts,
  facts bytea NOT NULL,
  passages text NOT NULL,
  PRIMARY KEY (run_id, number)
);
CREATE INDEX snapshots_of_text ON deep_research.snapshots (sha256);
