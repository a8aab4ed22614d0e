-- Texts that no snapshot has, deleted. Whoever keeps one holds its row until its snapshot is there: so each row is waited
-- for, and it is asked again, by a statement that sees what was written in the meantime.
CREATE OR REPLACE FUNCTION deep_research.delete_unused_texts() RETURNS TABLE (deleted text) LANGUAGE plpgsql AS $$
DECLARE
  unused text[];
BEGIN
  unused := ARRAY(
    SELECT t.sha256 FROM deep_research.texts t
    WHERE NOT EXISTS (SELECT 1 FROM deep_research.snapshots n WHERE n.sha256 = t.sha256) ORDER BY t.sha256 FOR UPDATE);
  RETURN QUERY DELETE FROM deep_research.texts t WHERE t.sha256 = ANY (unused)
    AND NOT EXISTS (SELECT 1 FROM deep_research.snapshots n WHERE n.sha256 = t.sha256)
    RETURNING CASE WHEN t.body IS NULL THEN t.sha256 END;
END $$;
