-- A text without a body lies in the object store.
ALTER TABLE deep_research.texts ALTER COLUMN body DROP NOT NULL;

-- Texts that no snapshot has, deleted. Whoever keeps one holds its lock, shared, until its snapshot is there.
CREATE FUNCTION deep_research.delete_unused_texts() RETURNS TABLE (deleted text) LANGUAGE plpgsql AS $$
DECLARE
  unused text;
BEGIN
  FOR unused IN
    SELECT t.sha256 FROM deep_research.texts t
    WHERE NOT EXISTS (SELECT 1 FROM deep_research.snapshots n WHERE n.sha256 = t.sha256) ORDER BY t.sha256
  LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(unused, 0));
    RETURN QUERY DELETE FROM deep_research.texts t WHERE t.sha256 = unused
      AND NOT EXISTS (SELECT 1 FROM deep_research.snapshots n WHERE n.sha256 = t.sha256)
      RETURNING CASE WHEN t.body IS NULL THEN t.sha256 END;
  END LOOP;
END $$;
