-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH card AS (
  SELECT *
  FROM editions e
  WHERE e.isbn13 = $4
), matched AS (
  SELECT m.edition_id, m.linked_by
  FROM match_books( ARRAY[$1], ARRAY[$2], ARRAY[$4], ARRAY[$5], ARRAY[author_text($6, $7::author_role[])], NULL ) m
  WHERE $5 IS NOT NULL AND NOT EXISTS (
    SELECT
    FROM card
  )
), created AS (
  INSERT INTO books ( user_id, id, edition_id, linked_by, title, subtitle, authors, author_roles, isbn13, publisher, published_date, page_count, language, category, genre, description, series, series_position, status, started_at, finished_at, cover_status, cover_requested_at )
  SELECT $1, $2, coalesce(card.id, matched.edition_id), CASE WHEN card.id IS NULL THEN coalesce(matched.linked_by, 'CARD') ELSE 'ISBN' END, coalesce($5, card.title), coalesce( $20, CASE WHEN coalesce($5, card.title) = card.title THEN left(nullif(btrim(card.subtitle), ''), 500) END ), CASE WHEN $6 = '{}' THEN coalesce(card.authors, '{}') ELSE $6 END, CASE WHEN $6 = '{}' THEN coalesce(card.author_roles, '{}') ELSE $7::author_role[] END, coalesce($4, card.isbn13), coalesce($13, card.publisher), coalesce($14, card.published_date), coalesce($15, card.page_count), coalesce($16, card.language), $8, coalesce($9, card.genres[1]), coalesce($17, card.description), $18, $19, $10::reading_status, CASE WHEN $10::reading_status = 'READING' THEN now() END, CASE WHEN $10::reading_status = 'READ' THEN now() END, CASE WHEN $12 THEN 'FETCHING' ELSE 'NO_COVER' END::cover_status, CASE WHEN $12 THEN now() END
  FROM (
    SELECT
  ) AS one
  LEFT JOIN card ON true
  LEFT JOIN matched ON true
  WHERE coalesce($5, card.title) IS NOT NULL AND NOT ($1 = $2 OR EXISTS (
    SELECT
    FROM editions
    WHERE id = $2
  ) OR EXISTS (
    SELECT
    FROM shelves
    WHERE user_id = $1 AND id = $2
  ) OR EXISTS (
    SELECT
    FROM reviews
    WHERE user_id = $1 AND id = $2
  ) OR EXISTS (
    SELECT
    FROM imports
    WHERE user_id = $1 AND id = $2
  ) OR EXISTS (
    SELECT
    FROM reads
    WHERE user_id = $1 AND id = $2
  ) OR EXISTS (
    SELECT
    FROM progress_entries
    WHERE user_id = $1 AND id = $2
  ) OR EXISTS (
    SELECT
    FROM notes
    WHERE user_id = $1 AND id = $2
  ))
  ON CONFLICT DO NOTHING
  RETURNING id, added_at
)
SELECT id
FROM created;

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

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title, b.authors, b.author_roles, b.author_ids, CASE WHEN b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - interval '55 seconds' THEN CASE WHEN EXISTS (
    SELECT
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) THEN 'READY' ELSE 'NOT_FOUND' END::cover_status ELSE b.cover_status END
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;
