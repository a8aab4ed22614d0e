-- What the queue has beside procrastinate's own. Each run that is queued asks how many its owner has there.
CREATE INDEX IF NOT EXISTS deep_research_owner ON procrastinate_jobs ((args->>'owner')) WHERE status IN ('todo', 'doing');
ALTER TABLE procrastinate_workers ADD COLUMN places integer NOT NULL DEFAULT 1;
-- How many workers died at it; the attempts of procrastinate are also those that were refused, busy or stopped.
ALTER TABLE procrastinate_jobs ADD COLUMN deaths integer NOT NULL DEFAULT 0;

-- Give a worker of so many places the next run, of an owner of whom fewer than `most` go on; where there are several
-- owners, one place of the workers that are alive is left to another. One worker at a time: each sees what others took.
CREATE FUNCTION deep_research.fetch_run(to_worker bigint, of_places integer, alive float, most integer, is_shared boolean)
RETURNS procrastinate_jobs LANGUAGE plpgsql AS $$
DECLARE
  fetched procrastinate_jobs;
BEGIN
  PERFORM pg_advisory_xact_lock(7214004);
  UPDATE procrastinate_workers SET places = of_places WHERE id = to_worker AND places <> of_places;
  IF is_shared OR (SELECT min(owner) <> max(owner) FROM deep_research.runs) THEN
    SELECT least(most, greatest(1, sum(places) - 1)) INTO most
    FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => alive);
  END IF;
  UPDATE procrastinate_jobs SET status = 'doing', worker_id = to_worker, lock = NULL WHERE id = (
    SELECT id FROM procrastinate_jobs
    WHERE status = 'todo' AND queue_name = 'runs' AND (scheduled_at IS NULL OR scheduled_at <= now())
      AND args->>'owner' NOT IN (
        SELECT args->>'owner' FROM procrastinate_jobs WHERE status = 'doing' GROUP BY 1 HAVING count(*) >= most)
    ORDER BY priority DESC, id LIMIT 1)
  RETURNING * INTO fetched;
  RETURN fetched;
END $$;
