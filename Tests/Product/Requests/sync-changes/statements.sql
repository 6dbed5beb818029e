-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT log.last_seq, log.pruned_seq, log.last_at, log.cursor_at, c.seq, c.kind, c.typename, c.id, c.at
FROM (
  SELECT coalesce(max(seq), 0) AS last_seq, coalesce(min(seq) - 1, 0) AS pruned_seq, (
    SELECT at
    FROM changes
    WHERE user_id = $1
    ORDER BY seq DESC
    LIMIT 1
  ) AS last_at, (
    SELECT at
    FROM changes
    WHERE user_id = $1 AND seq = $2
  ) AS cursor_at
  FROM changes
  WHERE user_id = $1
) log
LEFT JOIN LATERAL (
  SELECT *
  FROM changes
  WHERE user_id = $1 AND seq > $2
  ORDER BY seq
  LIMIT $3
) c ON true
ORDER BY c.seq;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.name, s.position
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title, b.authors, b.author_roles, b.author_ids, b.status, b.current_page, b.updated_at
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
  SELECT r.id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END, r.text, r.book_id
  FROM reviews r
  WHERE r.user_id = $1 AND r.id = requested.id
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

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT sb.book_id, s.id
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
  SELECT r.book_id, r.id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END, r.text
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
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
