-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT e.id, e.title, e.authors, e.author_roles, e.author_ids, e.average_rating, e.page_count, e.hook, e.genres, e.cover_version, e.title_card_version, coalesce(e.cover_width, 600), coalesce(e.cover_height, 900), e.cover_dominant_color, e.genres[1], e.cover_blur_hash, e.isbn13, e.authors[1], o.chain, o.number, o.index, o.needs_successor, now()
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

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT own.card_id, e.id, e.title
  FROM (
    SELECT c.id AS card_id, coalesce((
      SELECT w.founder_id
      FROM work_records w
      WHERE w.edition_id = c.id
    ), c.id) AS founder_id, ARRAY(
      SELECT f.language
      FROM edition_genres f
      WHERE f.edition_id = c.id AND f.ordinal = 1
    ) AS languages
    FROM editions c
    WHERE c.id = requested.id
  ) own
  CROSS JOIN LATERAL (
    SELECT ARRAY(
      SELECT u.similar_id
      FROM edition_similar s
      CROSS JOIN LATERAL unnest(s.similar_ids, s.scores) WITH ORDINALITY AS u (similar_id, score, rank)
      WHERE s.edition_id = own.founder_id AND u.score > 0
      ORDER BY u.rank
    ) AS ids
    OFFSET 0
  ) learned
  CROSS JOIN LATERAL ( (
    SELECT u.similar_id, u.rank
    FROM unnest(learned.ids) WITH ORDINALITY AS u (similar_id, rank)
    ORDER BY u.rank
    LIMIT $3
  ) UNION ALL (
    SELECT o.edition_id, o.position
    FROM edition_genres here
    JOIN edition_genres o ON o.language = here.language AND o.genre_id = here.genre_id AND o.ordinal = 1 AND o.position > here.position
    WHERE here.edition_id = own.card_id AND here.ordinal = 1 AND here.genre_id <> 0 AND NOT EXISTS (
      SELECT
      FROM work_records w
      WHERE w.edition_id = o.edition_id AND ( w.founder_id = own.founder_id OR record_to_show(w.founder_id, own.languages) <> w.edition_id )
      OFFSET 0
    ) AND coalesce( (
      SELECT w.founder_id
      FROM work_records w
      WHERE w.edition_id = o.edition_id
    ), o.edition_id ) <> ALL(learned.ids)
    ORDER BY o.position
    LIMIT $3
  ) ORDER BY rank LIMIT $3 ) n
  CROSS JOIN LATERAL (
    SELECT *
    FROM editions e
    WHERE e.id = coalesce( (
      SELECT record_to_show(w.founder_id, own.languages)
      FROM work_records w
      WHERE w.edition_id = n.similar_id
    ), n.similar_id )
    OFFSET 0
  ) e
  ORDER BY n.rank
  OFFSET 0
) found;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.edition_id, b.id, b.status
  FROM books b
  WHERE b.user_id = $1 AND b.edition_id = requested.id
  OFFSET 0
) found;
