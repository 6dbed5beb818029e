-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT e.id, e.title, e.authors[1], e.genres[1], e.average_rating, o.id, o.position, e.author_key, e.series_key, now(), o.preferred, o.deck_place, o.deck_version, o.newest_deck, o.order_version, uuid_hash(o.edition_id)
FROM (
  SELECT c.id AS edition_id, c.genre AS id, 0::int8 AS position, c.place::int4 AS deck_place, d.version AS deck_version, NULL::text[] AS preferred, (
    SELECT order_version
    FROM feed_state
  ) AS order_version, d.version AS newest_deck
  FROM (
    SELECT version, touched_at, editions[1:$2] AS editions, genres[1:$2] AS genres
    FROM feed_decks
    WHERE user_id = $1
    ORDER BY version DESC
    LIMIT 1
  ) d
  CROSS JOIN LATERAL unnest(d.editions, d.genres) WITH ORDINALITY c (id, genre, place)
  WHERE d.touched_at IS NULL
) o
CROSS JOIN LATERAL (
  SELECT *
  FROM editions e
  WHERE e.id = o.edition_id
  OFFSET 0
) e;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

WITH pick AS MATERIALIZED (
  SELECT newest, coalesce($3::int4, newest) AS version
  FROM (
    SELECT coalesce( (
      SELECT max(d.version)
      FROM feed_decks d
      WHERE d.user_id = $1
    ), (
      SELECT -max(d.version)
      FROM feed_openings d
      WHERE (
        SELECT u.preferred_genres
        FROM users u
        WHERE u.id = $1
      ) = '{}'
    ) ) AS newest
    OFFSET 0
  ) n
)
SELECT e.id, e.title, e.authors[1], e.genres[1], e.average_rating, o.id, o.position, e.author_key, e.series_key, now(), o.preferred, o.deck_place, o.deck_version, o.newest_deck, o.order_version, uuid_hash(o.edition_id)
FROM (
  SELECT o.*
  FROM (
    SELECT c.id AS edition_id, c.genre AS id, 0::int8 AS position, c.place::int4 AS deck_place, d.version AS deck_version, NULL::text[] AS preferred, (
      SELECT order_version
      FROM feed_state
    ) AS order_version, p.newest AS newest_deck
    FROM pick p
    CROSS JOIN LATERAL (
      SELECT d.version, d.editions, d.genres
      FROM feed_decks d
      WHERE d.user_id = $1 AND d.version = p.version
      UNION ALL
      SELECT -d.version, d.editions, d.genres
      FROM feed_openings d
      WHERE d.version = -p.version
    ) d
    CROSS JOIN LATERAL unnest(d.editions, d.genres) WITH ORDINALITY c (id, genre, place)
  ) o
  WHERE uuid_hash(o.edition_id) NOT IN (
    SELECT unnest($4::int4[])
  ) AND NOT EXISTS (
    SELECT
    FROM swipes s
    WHERE s.user_id = $1 AND s.edition_id = o.edition_id AND s.seen_at <= coalesce($2, now())
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id = o.edition_id AND b.added_at <= coalesce($2, now())
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM work_records w
    WHERE w.edition_id = o.edition_id AND (w.rank > 1 OR was_other_record_seen($1, w.edition_id, coalesce($2, now())))
    OFFSET 0
  ) AND ( cardinality($6::int2[]) = 0 OR NOT EXISTS (
    SELECT
    FROM (
      SELECT f.primary_id, f.position
      FROM feed_order f
      WHERE f.edition_id = o.edition_id AND f.genre_id = f.primary_id
      OFFSET 0
    ) f
    JOIN unnest($6::int2[], $7::int8[]) q (id, place) ON q.id = f.primary_id AND q.place >= f.position
  ) )
  LIMIT $5
) o
CROSS JOIN LATERAL (
  SELECT *
  FROM editions e
  WHERE e.id = o.edition_id
  OFFSET 0
) e;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT order_version, order_kept_since
FROM feed_state;

WITH q AS MATERIALIZED (
  SELECT q.id, q.after, q.most, q.n, CASE WHEN q.id = ANY($6::int2[]) THEN ARRAY[q.id] ELSE coalesce($6::int2[], ARRAY[q.id]) END AS genres, f.unseen, f.reach, f.seen_at
  FROM unnest($3::int2[], $4::int8[], $5::int4[]) WITH ORDINALITY q (id, after, most, n)
  LEFT JOIN feed_frontiers f ON f.user_id = $1 AND f.genre_id = q.id AND f.seen_at > (
    SELECT frontiers_valid_since
    FROM feed_state
  )
), seen_record AS (
  SELECT s.edition_id
  FROM swipes s
  WHERE s.user_id = $1 AND s.seen_at > $2
  UNION
  SELECT b.edition_id
  FROM books b
  WHERE b.user_id = $1 AND b.added_at > $2
  UNION
  SELECT r.edition_id
  FROM feed_returns r
  WHERE r.user_id = $1
), seen_later AS MATERIALIZED (
  SELECT s.edition_id
  FROM seen_record s
  UNION
  SELECT first.edition_id
  FROM seen_record s
  CROSS JOIN LATERAL (
    SELECT first.edition_id
    FROM (
      SELECT w.work_key, w.volume
      FROM work_records w
      WHERE w.edition_id = s.edition_id
      OFFSET 0
    ) w
    CROSS JOIN LATERAL (
      SELECT r.edition_id
      FROM work_records r
      WHERE r.work_key = w.work_key AND r.volume = w.volume AND r.rank = 1
      OFFSET 0
    ) first
  ) first
), passed AS (
  SELECT o.primary_id, o.position, o.edition_id
  FROM feed_order o
  WHERE o.genre_id = o.primary_id AND o.placed_at > (
    SELECT greatest( min(q.seen_at) - interval '1 hour', (
      SELECT frontiers_valid_since
      FROM feed_state
    ) )
    FROM q
    HAVING count(q.seen_at) > 0
  )
  UNION ALL
  SELECT o.primary_id, o.position, o.edition_id
  FROM seen_later l
  CROSS JOIN LATERAL (
    SELECT *
    FROM feed_order o
    WHERE o.edition_id = l.edition_id AND o.genre_id = o.primary_id
    OFFSET 0
  ) o
), found AS (
  SELECT q.n, q.id, q.most, o.position, o.edition_id
  FROM q
  CROSS JOIN LATERAL (
    SELECT o.position, o.edition_id
    FROM unnest(q.unseen) u (position)
    CROSS JOIN LATERAL (
      SELECT o.position, o.edition_id
      FROM feed_order o
      WHERE o.genre_id = q.id AND o.primary_id = q.id AND o.position = u.position AND o.position < $8 AND (q.genres = ARRAY[q.id] OR EXISTS (
        SELECT
        FROM feed_order f
        WHERE f.edition_id = o.edition_id AND f.genre_id = ANY(q.genres)
      )) AND uuid_hash(o.edition_id) NOT IN (
        SELECT unnest($7::int4[])
      ) AND NOT EXISTS (
        SELECT
        FROM swipes s
        WHERE s.user_id = $1 AND s.edition_id = o.edition_id AND s.seen_at <= coalesce($2, now())
        OFFSET 0
      ) AND NOT EXISTS (
        SELECT
        FROM books b
        WHERE b.user_id = $1 AND b.edition_id = o.edition_id AND b.added_at <= coalesce($2, now())
        OFFSET 0
      ) AND NOT EXISTS (
        SELECT
        FROM work_records w
        WHERE w.edition_id = o.edition_id AND (w.rank > 1 OR was_other_record_seen($1, w.edition_id, coalesce($2, now())))
        OFFSET 0
      )
      OFFSET 0
    ) o
    WHERE u.position > q.after
    LIMIT q.most
  ) o
  UNION
  SELECT q.n, q.id, q.most, o.position, o.edition_id
  FROM q
  CROSS JOIN unnest(q.genres) g (id)
  CROSS JOIN LATERAL (
    SELECT o.position, o.edition_id
    FROM feed_order o
    WHERE o.genre_id = g.id AND o.primary_id = q.id AND o.position > greatest(q.after, q.reach) AND o.position < $8 AND uuid_hash(o.edition_id) NOT IN (
      SELECT unnest($7::int4[])
    ) AND NOT EXISTS (
      SELECT
      FROM swipes s
      WHERE s.user_id = $1 AND s.edition_id = o.edition_id AND s.seen_at <= coalesce($2, now())
      OFFSET 0
    ) AND NOT EXISTS (
      SELECT
      FROM books b
      WHERE b.user_id = $1 AND b.edition_id = o.edition_id AND b.added_at <= coalesce($2, now())
      OFFSET 0
    ) AND NOT EXISTS (
      SELECT
      FROM work_records w
      WHERE w.edition_id = o.edition_id AND (w.rank > 1 OR was_other_record_seen($1, w.edition_id, coalesce($2, now())))
      OFFSET 0
    )
    ORDER BY o.position
    LIMIT q.most
  ) o
  UNION
  SELECT o.n, o.id, o.most, o.position, o.edition_id
  FROM (
    SELECT q.n, q.id, q.most, q.genres, o.position, o.edition_id
    FROM q
    JOIN passed o ON o.primary_id = q.id AND o.position > q.after AND o.position <= q.reach AND o.position < $8
    OFFSET 0
  ) o
  WHERE EXISTS (
    SELECT
    FROM feed_order f
    WHERE f.edition_id = o.edition_id AND f.genre_id = ANY(o.genres)
  ) AND uuid_hash(o.edition_id) NOT IN (
    SELECT unnest($7::int4[])
  ) AND NOT EXISTS (
    SELECT
    FROM swipes s
    WHERE s.user_id = $1 AND s.edition_id = o.edition_id AND s.seen_at <= coalesce($2, now())
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM books b
    WHERE b.user_id = $1 AND b.edition_id = o.edition_id AND b.added_at <= coalesce($2, now())
    OFFSET 0
  ) AND NOT EXISTS (
    SELECT
    FROM work_records w
    WHERE w.edition_id = o.edition_id AND (w.rank > 1 OR was_other_record_seen($1, w.edition_id, coalesce($2, now())))
    OFFSET 0
  )
)
SELECT e.id, e.title, e.authors[1], e.genres[1], e.average_rating, o.id, o.position, e.author_key, e.series_key, now(), o.preferred, o.deck_place, o.deck_version, o.newest_deck, o.order_version, uuid_hash(o.edition_id)
FROM (
  SELECT *, row_number() OVER (PARTITION BY n ORDER BY position) AS round, NULL::int4 AS deck_place, NULL::int4 AS deck_version, NULL::int4 AS order_version, coalesce( (
    SELECT max(d.version)
    FROM feed_decks d
    WHERE d.user_id = $1
  ), (
    SELECT -max(d.version)
    FROM feed_openings d
    WHERE (
      SELECT u.preferred_genres
      FROM users u
      WHERE u.id = $1
    ) = '{}'
  ) ) AS newest_deck, (
    SELECT u.preferred_genres
    FROM users u
    WHERE u.id = $1
  ) AS preferred
  FROM found
) o
CROSS JOIN LATERAL (
  SELECT *
  FROM editions e
  WHERE e.id = o.edition_id
  OFFSET 0
) e
WHERE o.round <= o.most
ORDER BY o.n, o.position;

-- round trip 4
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
    SELECT $1 AS user_id, count(*) AS books, count(*) FILTER (WHERE status = 'WANT_TO_READ') AS want_to_read, count(*) FILTER (WHERE status = 'READING') AS reading, count(*) FILTER (WHERE status = 'READ') AS read
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
