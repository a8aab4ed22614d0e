-- What holds at a provider or a host for all processes: until when it is closed and why, and when its next turn is.
CREATE TABLE deep_research.limits (
  name text PRIMARY KEY,
  closed_until timestamptz NOT NULL DEFAULT '-infinity',
  why text NOT NULL DEFAULT '',
  full_at timestamptz NOT NULL DEFAULT '-infinity'
);

-- Take the first free one of the places at a name, as a lock of this session: a process that dies lets go of it.
-- A session would be given its own lock once more, so it names those that it holds. 0: none is free.
CREATE FUNCTION deep_research.take_place(of_name text, most integer, held integer[]) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
  FOR place IN 1..most LOOP
    IF place <> ALL (held) AND pg_try_advisory_lock(hashtext('deep_research ' || of_name), place) THEN
      RETURN place;
    END IF;
  END LOOP;
  RETURN 0;
END $$;

-- Take the next turn at a name (GCRA): turns lie `every` seconds apart, of which so many may be taken ahead. Return the
-- seconds until the turn; where the name is closed for longer than `most_wait`, these as a negative number, and no turn.
CREATE FUNCTION deep_research.take_turn(of_name text, every float, ahead float, most_wait float) RETURNS float
LANGUAGE plpgsql AS $$
DECLARE
  known deep_research.limits;
  opens timestamptz;
  full_now timestamptz;
BEGIN
  INSERT INTO deep_research.limits (name) VALUES (of_name) ON CONFLICT DO NOTHING;
  SELECT * INTO known FROM deep_research.limits WHERE name = of_name FOR UPDATE;
  opens := greatest(clock_timestamp(), known.closed_until);
  IF known.closed_until > clock_timestamp() + make_interval(secs => most_wait) THEN
    RETURN -extract(epoch FROM known.closed_until - clock_timestamp());
  END IF;
  full_now := greatest(opens, known.full_at);
  UPDATE deep_research.limits SET full_at = full_now + make_interval(secs => every) WHERE name = of_name;
  RETURN greatest(0, extract(epoch FROM greatest(opens, full_now - make_interval(secs => ahead)) - clock_timestamp()));
END $$;
