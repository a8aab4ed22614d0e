-- Give a worker of so many places the next run, of an owner of whom fewer than `most` go on; where there are several
-- owners, one place of the workers that are alive is left to another. One worker at a time: each sees what others took.
-- A run at which three workers died is carried out alone, so that no run beside it is blamed if another dies. When its turn
-- comes, a busy worker takes nothing new until what it has in hand has ended.
CREATE OR REPLACE FUNCTION deep_research.fetch_run(to_worker bigint, of_places integer, alive float, most integer, is_shared boolean)
RETURNS procrastinate_jobs LANGUAGE plpgsql AS $$
DECLARE
  suspect constant integer := 3;
  next procrastinate_jobs;
  fetched procrastinate_jobs;
BEGIN
  PERFORM pg_advisory_xact_lock(7214004);
  UPDATE procrastinate_workers SET places = of_places WHERE id = to_worker AND places <> of_places;
  IF is_shared OR (SELECT min(owner) <> max(owner) FROM deep_research.runs) THEN
    SELECT least(most, greatest(1, sum(places) - 1)) INTO most
    FROM procrastinate_workers WHERE last_heartbeat > now() - make_interval(secs => alive);
  END IF;
  IF EXISTS (SELECT FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = to_worker AND deaths >= suspect) THEN
    RETURN fetched;
  END IF;
  SELECT * INTO next FROM procrastinate_jobs
  WHERE status = 'todo' AND queue_name = 'runs' AND (scheduled_at IS NULL OR scheduled_at <= now())
    AND args->>'owner' NOT IN (
      SELECT args->>'owner' FROM procrastinate_jobs WHERE status = 'doing' GROUP BY 1 HAVING count(*) >= most)
  ORDER BY priority DESC, id LIMIT 1;
  IF next.deaths < suspect
    OR NOT EXISTS (SELECT FROM procrastinate_jobs WHERE status = 'doing' AND worker_id = to_worker) THEN
    UPDATE procrastinate_jobs SET status = 'doing', worker_id = to_worker, lock = NULL WHERE id = next.id
    RETURNING * INTO fetched;
  END IF;
  RETURN fetched;
END $$;
