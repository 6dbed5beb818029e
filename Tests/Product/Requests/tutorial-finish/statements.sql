-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT outcome, other_id
FROM change_read($1, $2, $3);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.id, r.finished_on, r.outcome, r.book_id
  FROM reads r
  WHERE r.user_id = $1 AND r.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.status
FROM books b
WHERE b.user_id = $1 AND b.id = $2;

-- round trip 3
SELECT begin_request($1, $2, $3, $4);

WITH given AS (
  SELECT b.id, $4::int IS NULL OR $4 % $9 = 0 OR $4 IS NOT DISTINCT FROM r.quarter_stars AS is_allowed, CASE WHEN $6 AND NOT ($8 AND CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END IS NOT DISTINCT FROM $4 / 4) THEN $4::smallint ELSE r.quarter_stars END AS quarter_stars, CASE WHEN $7 THEN $5 ELSE r.text END AS text, coalesce($10, r.has_spoilers, false) AS has_spoilers
  FROM books b
  LEFT JOIN reviews r ON r.user_id = b.user_id AND r.book_id = b.id
  WHERE b.user_id = $1 AND b.id = $2
), review AS (
  INSERT INTO reviews AS r (user_id, book_id, id, quarter_stars, text, has_spoilers)
  SELECT $1, id, $3, quarter_stars, text, has_spoilers
  FROM given
  WHERE is_allowed AND (quarter_stars IS NOT NULL OR text IS NOT NULL)
  ON CONFLICT (user_id, book_id) DO UPDATE
  SET quarter_stars = excluded.quarter_stars, text = excluded.text, has_spoilers = excluded.has_spoilers, updated_at = excluded.updated_at
)
SELECT is_allowed, quarter_stars IS NOT NULL OR text IS NOT NULL
FROM given;

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, r.quarter_stars::float8 / 4
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
  OFFSET 0
) found;
