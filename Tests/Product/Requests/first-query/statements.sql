-- round trip 1
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
  SELECT (s.name)::text, (NULL)::uuid, (coalesce((
    SELECT c.books
    FROM shelf_counts c
    WHERE c.user_id = $1 AND c.shelf_id = s.id
  ), 0))::int8, (NULL)::int8, 1
  FROM shelves s
  WHERE s.user_id = $1 AND s.user_id = $2
  ORDER BY s.position, s.id
)
UNION ALL (
  SELECT (NULL)::text, (NULL)::uuid, (coalesce( c.books[1] + c.books[2] + c.books[3] + c.books[4] + c.books[5], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (1, 2, 3, 4, 5)
  ) ))::int8, (coalesce( c.books[2], (
    SELECT count(*)
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank IN (2)
  ) ))::int8, 2
  FROM (
    SELECT u.id AS user_id
    FROM users u
    WHERE u.id = $1
  ) t
  LEFT JOIN library_counts c ON c.user_id = t.user_id
  LEFT JOIN reading_counts s ON s.user_id = $1 AND s.kind = 'READS' AND s.year = 0 AND s.key = ''
  WHERE t.user_id = $2
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT e.id, e.title, e.authors, e.author_roles, e.author_ids, e.genres, e.average_rating, o.chain, o.number, o.index, o.needs_successor, now()
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
