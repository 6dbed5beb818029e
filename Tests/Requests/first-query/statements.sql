-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

WITH RECURSIVE requested AS MATERIALIZED (
  SELECT d.number, d.editions, $3::int4 AS skipped, $5::timestamptz AS as_of
  FROM feed_decks d
  WHERE d.user_id = $1 AND d.number = $2 AND d.filter = $4::int2[]
  UNION ALL
  SELECT d.number, d.editions, $3::int4, $5::timestamptz
  FROM cold_start_decks d
  WHERE d.number = $2 AND $4::int2[] = '{}'
), newest AS (
  SELECT d.number, d.editions
  FROM (
    SELECT *
    FROM feed_decks d
    WHERE d.user_id = $1 AND d.filter = $4::int2[] AND d.previous IS NULL AND NOT d.is_outdated
    ORDER BY d.number DESC
    LIMIT 1
  ) d
  WHERE NOT d.is_outdated AND d.created_at > greatest( (
    SELECT decks_valid_since
    FROM feed_state
  ), now() - interval '1 day' )
), cold_start AS (
  SELECT d.number, d.editions
  FROM cold_start_decks d
  WHERE $4::int2[] = '{}' AND (
    SELECT preferred_genres
    FROM users
    WHERE id = $1
  ) = '{}' AND NOT EXISTS (
    SELECT
    FROM swipes s
    WHERE s.user_id = $1 AND s.undone_at IS NULL
  ) AND NOT EXISTS (
    SELECT
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id IS NOT NULL
  )
  ORDER BY d.number
  LIMIT 1
), chain AS ( (
  SELECT number, editions, skipped, as_of, 0 AS depth
  FROM requested
  UNION ALL
  SELECT number, editions, 0, now(), 0
  FROM (
    SELECT *
    FROM newest
    UNION ALL
    SELECT *
    FROM cold_start
  ) s
  WHERE NOT EXISTS (
    SELECT
    FROM requested
  )
  LIMIT 1
) UNION ALL SELECT d.number, d.editions, 0, c.as_of, c.depth + 1 FROM chain c JOIN feed_decks d ON d.user_id = $1 AND d.previous = c.number )
SELECT e.id, e.title, e.authors[1], e.genres[1], e.average_rating, o.deck, o.index, o.is_middle, now()
FROM (
  SELECT c.number AS deck, c.depth, (c.skipped + k.ordinal)::int4 AS index, k.edition_id, c.skipped + k.ordinal = (cardinality(c.editions) + 1) / 2 AND NOT EXISTS (
    SELECT
    FROM feed_decks d
    WHERE d.user_id = $1 AND d.previous = c.number
  ) AS is_middle
  FROM chain c
  CROSS JOIN LATERAL unnest(c.editions[c.skipped + 1:]) WITH ORDINALITY k (edition_id, ordinal)
  WHERE NOT EXISTS (
    SELECT
    FROM swipes s
    WHERE s.user_id = $1 AND s.edition_id = k.edition_id AND s.recorded_at <= c.as_of AND (s.undone_at IS NULL OR s.undone_at > c.as_of) AND ( s.action <> 'SKIP' OR least(s.swiped_at, s.recorded_at) > c.as_of - interval '30 days' )
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id = k.edition_id AND b.added_at <= c.as_of
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM work_records w
    WHERE w.edition_id = k.edition_id AND was_other_record_seen($1, w.edition_id, c.as_of, c.as_of - interval '30 days')
    OFFSET 0
  )
  LIMIT $6
) o
CROSS JOIN LATERAL (
  SELECT *
  FROM editions e
  WHERE e.id = o.edition_id
  OFFSET 0
) e
ORDER BY o.depth, o.index;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.display_name)::text, (u.id)::uuid, (NULL)::int8, (NULL)::int8, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (s.name)::text, (NULL)::uuid, ((
    SELECT count(*)
    FROM shelf_books c
    WHERE c.user_id = s.user_id AND c.shelf_id = s.id
  ))::int8, (NULL)::int8, 1
  FROM shelves s
  WHERE s.user_id = $1 AND s.user_id = $2
  ORDER BY s.position, s.id
)
UNION ALL (
  SELECT (NULL)::text, (NULL)::uuid, (t.books)::int8, (t.read)::int8, 2
  FROM (
    SELECT $1 AS user_id, count(*) AS books, count(*) FILTER (WHERE status = 'WANT_TO_READ') AS want_to_read, count(*) FILTER (WHERE status = 'READING') AS reading, count(*) FILTER (WHERE status = 'READ') AS read, count(*) FILTER (WHERE status = 'PAUSED') AS paused, count(*) FILTER (WHERE status = 'DID_NOT_FINISH') AS did_not_finish
    FROM books
    WHERE user_id = $1
  ) t, (
    SELECT count(*) AS reviews, avg(r.rating)::float8 AS average_rating
    FROM reviews r
    JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
    WHERE r.user_id = $1 AND b.status = 'READ'
  ) v
  WHERE t.user_id = $2
);
