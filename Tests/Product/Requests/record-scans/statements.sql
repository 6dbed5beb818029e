-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT isbn13, id
FROM editions
WHERE isbn13 = ANY($1);

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

WITH given AS MATERIALIZED (
  SELECT g.id, g.isbn13, g.scanned_at, g.outcome, g.position, s.id IS NOT NULL AS is_known, s.id IS NULL AND EXISTS (
    SELECT
    FROM reading_tombstones t
    WHERE t.user_id = $1 AND t.id = g.id
  ) AS is_deleted, coalesce(s.isbn13, first_value(g.isbn13) OVER (PARTITION BY g.id ORDER BY g.position)) AS stored_isbn13
  FROM ROWS
  FROM ( jsonb_to_recordset($2) AS (id uuid, isbn text, "scannedAt" timestamptz, outcome scan_outcome) ) WITH ORDINALITY AS g (id, isbn13, scanned_at, outcome, position)
  LEFT JOIN scans s ON s.user_id = $1 AND s.id = g.id
), added AS (
  INSERT INTO scans (user_id, id, isbn13, scanned_at, outcome)
  SELECT DISTINCT ON (g.id) $1, g.id, g.isbn13, least(g.scanned_at, now()), g.outcome
  FROM given g
  WHERE NOT g.is_known AND NOT g.is_deleted
  ORDER BY g.id, g.position
  ON CONFLICT DO NOTHING
), changed AS (
  UPDATE scans s
  SET outcome = g.outcome
  FROM given g
  WHERE s.user_id = $1 AND s.id = g.id AND s.isbn13 = g.isbn13 AND (s.outcome, g.outcome) IN (('FAILED', 'UNKNOWN'), ('FAILED', 'FOUND'), ('UNKNOWN', 'FOUND'))
)
SELECT CASE WHEN is_deleted THEN 'DELETED' WHEN stored_isbn13 <> isbn13 THEN 'TAKEN' END
FROM given
ORDER BY position;

DELETE FROM scans
WHERE user_id = $1 AND id IN (
  SELECT s.id
  FROM scans s
  WHERE s.user_id = $1
  ORDER BY s.recorded_at DESC, s.scanned_at DESC, s.id
  OFFSET 1000
) AND id <> ALL($2);

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.outcome, (
    SELECT e.id
    FROM editions e
    WHERE e.isbn13 = s.isbn13
  ), (
    SELECT b.id
    FROM books b
    WHERE b.user_id = $1 AND b.isbn13 = s.isbn13
  )
  FROM scans s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;

-- round trip 4
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT e.id, e.title, author_text(e.authors, e.author_roles)
  FROM editions e
  WHERE e.id = requested.id
  OFFSET 0
) found;
