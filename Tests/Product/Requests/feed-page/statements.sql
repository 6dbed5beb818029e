-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT e.id, e.title, e.authors, e.author_roles, e.author_ids, e.genres, e.cover_version, e.title_card_version, e.cover_blur_hash, e.genres[1], e.average_rating, e.hook, e.isbn13, e.authors[1], o.chain, o.number, o.index, o.needs_successor, now()
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

SELECT amazon_tag, bookshop_id
FROM tenants
WHERE id = $1;
