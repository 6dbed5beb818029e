-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (b.id)::uuid, (b.title)::text, (b.authors)::text[], (b.author_roles)::text[], (b.author_ids)::uuid[], (b.isbn13)::text, (b.page_count)::int8, (b.status)::text, (b.current_page)::int8, (b.added_at)::timestamptz, (b.edition_id)::uuid, (b.user_id)::uuid, (coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
    SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) END, (
    SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
    FROM editions e
    WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
  ) ))::text[], (b.title_card_version)::text, 0
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2
)
UNION ALL (
  SELECT (r.id)::uuid, (r.started_on)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::text, (NULL)::int8, (NULL)::text, (NULL)::int8, (NULL)::timestamptz, (NULL)::uuid, (NULL)::uuid, (NULL)::text[], (NULL)::text, 1
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = $2 AND r.outcome = 'READING'
)
UNION ALL (
  SELECT (s.id)::uuid, (s.name)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::text, (s.position)::int8, (NULL)::text, (NULL)::int8, (NULL)::timestamptz, (NULL)::uuid, (NULL)::uuid, (NULL)::text[], (NULL)::text, 2
  FROM shelf_books sb
  JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
  WHERE sb.user_id = $1 AND sb.book_id = $2
  ORDER BY s.position, s.id
)
UNION ALL (
  SELECT (r.id)::uuid, (r.text)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::text, (CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END)::int8, (NULL)::text, (NULL)::int8, (r.updated_at)::timestamptz, (NULL)::uuid, (NULL)::uuid, (NULL)::text[], (NULL)::text, 3
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = $2
);

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT e.id, e.average_rating, e.isbn13, e.title, e.authors[1]
FROM editions e
WHERE e.id = $2;

SELECT id, bio
FROM authors
WHERE id = ANY($1) AND bio IS NOT NULL;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT amazon_tag, bookshop_id
FROM tenants
WHERE id = $1;

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
  WHERE c.id = $2
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
ORDER BY n.rank;

-- round trip 4
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.edition_id, b.id
  FROM books b
  WHERE b.user_id = $1 AND b.edition_id = requested.id
  OFFSET 0
) found;
