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
  SELECT u.id, u.display_name
  FROM users u
  WHERE u.id = $1 AND u.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.name, coalesce((
    SELECT c.books
    FROM shelf_counts c
    WHERE c.user_id = $1 AND c.shelf_id = s.id
  ), 0)
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title
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
  SELECT e.id, e.title
  FROM editions e
  WHERE true AND e.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT e.requested_id, work_id(e.founder_id)
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
  SELECT s.id
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

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT sb.book_id, s.name
  FROM shelf_books sb
  JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
  WHERE sb.user_id = $1 AND sb.book_id = requested.id
  ORDER BY s.position, s.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
  OFFSET 0
) found;

SELECT b.edition_id, b.id
FROM books b
WHERE b.user_id = $1 AND b.edition_id = $2;
