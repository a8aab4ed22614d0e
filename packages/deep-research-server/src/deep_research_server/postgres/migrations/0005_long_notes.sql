-- A note may be about a request of any length (an address, a prompt), and an entry of an index may not.
ALTER TABLE deep_research.notes DROP CONSTRAINT notes_pkey;
ALTER TABLE deep_research.notes ALTER COLUMN request TYPE bytea USING convert_to(request, 'UTF8');
ALTER TABLE deep_research.notes ADD PRIMARY KEY (run_id, number);
CREATE UNIQUE INDEX notes_of_request ON deep_research.notes (run_id, kind, sha256(request));
