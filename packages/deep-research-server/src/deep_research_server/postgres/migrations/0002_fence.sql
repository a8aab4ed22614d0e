-- Checked by each write to a run, in its transaction: whose run was taken over by another process writes nothing more.
-- An error, not an empty answer, so that the writes behind it can be sent without waiting for it.
CREATE FUNCTION deep_research.check_fence(of_run text, held bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM deep_research.runs WHERE run_id = of_run AND fence = held FOR SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'The run % was taken over by another process.', of_run USING ERRCODE = 'DR001';
  END IF;
END $$;
