-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT e.id, e.title, e.authors, e.author_roles, e.author_ids, e.genres, e.average_rating, e.hook, e.cover_version, e.title_card_version, e.cover_blur_hash, e.genres[1], o.chain, o.number, o.index, o.needs_successor, now()
FROM (
  SELECT d.chain, d.number, c.index::int4 AS index, c.edition_id, c.index * 2 >= cardinality(d.editions) AND NOT EXISTS (
    SELECT
    FROM feed_decks n
    WHERE n.user_id = $1 AND n.chain = d.chain AND n.number > 0
  ) AS needs_successor
  FROM (
    SELECT *
    FROM feed_decks d
    WHERE d.user_id = $1 AND d.filter = $2::int2[] AND d.number = 0
    ORDER BY d.chain DESC
    LIMIT 1
  ) d
  CROSS JOIN LATERAL unnest(d.editions[:$3]) WITH ORDINALITY c (edition_id, index)
  WHERE d.signals_version = coalesce((
    SELECT f.signals_version
    FROM feed_readers f
    WHERE f.user_id = $1
  ), 0) AND d.created_at > greatest( (
    SELECT decks_valid_since
    FROM feed_state
  ), now() - interval '1 day' )
) o
CROSS JOIN LATERAL (
  SELECT *
  FROM editions e
  WHERE e.id = o.edition_id
  OFFSET 0
) e
ORDER BY o.index;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.card_id, (ARRAY['SERIES', 'AUTHOR', 'SIMILAR', 'GENRE', 'FOLLOWED'])[r.kind], r.liked_id, r.genres
  FROM (
    SELECT k.id AS card_id, c.kind, liked.id AS liked_id, array_remove(ARRAY[g.name], NULL) AS genres
    FROM editions k
    CROSS JOIN LATERAL (
      SELECT (d.reason >> 32)::int4 AS kind, d.reason & 4294967295 AS number
      FROM (
        SELECT d.reasons[array_position(d.editions, k.id)] AS reason
        FROM feed_decks d
        WHERE d.user_id = $1
        ORDER BY d.chain DESC, d.number DESC
        LIMIT 20
      ) d
      WHERE d.reason IS NOT NULL
      LIMIT 1
    ) c
    LEFT JOIN LATERAL (
      SELECT e.id
      FROM editions e
      WHERE e.number = c.number AND c.kind <> 4
      OFFSET 0
    ) liked ON true
    LEFT JOIN genres g ON g.id = c.number AND c.kind = 4
    WHERE k.id = requested.id AND (liked.id IS NOT NULL OR g.name IS NOT NULL OR c.kind = 5)
  ) r
  OFFSET 0
) found;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT e.id, e.title
  FROM editions e
  WHERE e.id = requested.id
  OFFSET 0
) found;
