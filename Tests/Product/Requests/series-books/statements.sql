-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT u.id
  FROM users u
  WHERE u.id = $1 AND u.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.id
  FROM reads r
  WHERE r.user_id = $1 AND r.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT p.id
  FROM progress_entries p
  WHERE p.user_id = $1 AND p.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT n.id
  FROM notes n
  WHERE n.user_id = $1 AND n.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.id
  FROM reviews r
  WHERE r.user_id = $1 AND r.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT e.id
  FROM editions e
  WHERE true AND e.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT e.requested_id
  FROM (
    SELECT e.*, k.id AS requested_id, coalesce(w.founder_id, o.id) AS founder_id
    FROM (
      SELECT requested.id
    ) k (id)
    CROSS JOIN LATERAL (
      SELECT coalesce( (
        SELECT r.survivor_id
        FROM removed_editions r
        WHERE r.id = work_id(k.id)
      ), work_id(k.id) ) AS id
    ) o
    LEFT JOIN work_records w ON w.edition_id = o.id
    LEFT JOIN work_records f ON f.founder_id = w.founder_id AND f.rank = 1
    JOIN editions e ON e.id = coalesce(f.edition_id, o.id)
  ) e
  WHERE true AND e.requested_id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.name
  FROM series s
  WHERE true AND s.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT p.id
  FROM (
    SELECT k.id, person_name(k.id) AS name
    FROM (
      SELECT requested.id
    ) k (id)
  ) p
  WHERE p.name IS NOT NULL AND p.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT g.id
  FROM reading_goals g
  WHERE g.user_id = $1 AND g.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT i.id
  FROM imports i
  WHERE i.user_id = $1 AND i.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT e.id, e.title, e.position_order, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT e.*
  FROM (
    SELECT e.*, coalesce(series_order(e.series_position), 'infinity') AS position_order
    FROM works_of_series(k.id) w
    JOIN editions e ON e.id = w.edition_id
  ) e
  WHERE true
  ORDER BY e.position_order, e.title, e.id
  LIMIT $3
) e;
