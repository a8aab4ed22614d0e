-- What the queue has beside procrastinate's own. Each run that is queued asks how many its owner has there.
CREATE INDEX IF NOT EXISTS deep_research_owner ON procrastinate_jobs ((args->>'owner')) WHERE status IN ('todo', 'doing');
ALTER TABLE procrastinate_workers ADD COLUMN places integer NOT NULL DEFAULT 1;
-- How many workers died at it; the attempts of procrastinate are also those that were refused, busy or stopped.
ALTER TABLE procrastinate_jobs ADD COLUMN deaths integer NOT NULL DEFAULT 0;
