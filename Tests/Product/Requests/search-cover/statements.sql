-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books
SET cover_status = 'FETCHING', cover_requested_at = now()
WHERE user_id = $1 AND id = $2;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.user_id, coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
    SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) END, (
    SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
    FROM editions e
    WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
  ) ), b.title_card_version, CASE WHEN b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - interval '55 seconds' THEN CASE WHEN EXISTS (
    SELECT
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) THEN 'READY' ELSE 'NOT_FOUND' END::cover_status ELSE b.cover_status END
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;

WITH requested AS MATERIALIZED (
  SELECT b.user_id, b.id, row_number() OVER (ORDER BY b.id) AS number
  FROM books b
  WHERE b.user_id = app_user_id() AND b.cover_status = 'FETCHING' AND b.cover_requested_at = now()
), recorded AS (
  INSERT INTO events (user_id, kind, payload)
  SELECT r.user_id, 'cover_changed', jsonb_build_object('book_id', r.id, 'status', 'FETCHING')
  FROM requested r
), awaited AS MATERIALIZED (
  SELECT count(*) AS count
  FROM jobs w
  WHERE w.user_id = app_user_id() AND w.kind = $1 AND w.key IS NOT NULL AND w.state <> 'DEAD' AND w.priority = 0
), added AS (
  INSERT INTO jobs AS j (user_id, kind, payload, key, priority, attempts_max)
  SELECT r.user_id, $1, jsonb_build_object('bookID', r.id), r.id::text, CASE WHEN a.count + r.number > 10 THEN 10 ELSE $2 END, $3
  FROM requested r
  CROSS JOIN awaited a
  ORDER BY r.id
  ON CONFLICT (user_id, kind, key)
  WHERE key IS NOT NULL AND state <> 'DEAD' DO UPDATE
  SET priority = least(j.priority, excluded.priority), run_at = least(j.run_at, excluded.run_at), attempts = CASE j.state WHEN 'RUNNING' THEN j.attempts ELSE 0 END, again = (j.state = 'RUNNING'), updated_at = excluded.updated_at
  RETURNING 1
)
SELECT count(*)
FROM added;
