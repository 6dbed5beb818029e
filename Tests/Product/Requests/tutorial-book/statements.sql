-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (b.id)::uuid, (b.title)::text, (b.subtitle)::text, (b.description)::text, (b.published_date)::text, (b.page_count)::int8, (b.status)::text, (b.authors)::text[], (b.author_roles)::text[], (b.author_ids)::uuid[], (b.user_id)::uuid, (coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
    SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) END, (
    SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
    FROM editions e
    WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
  ) ))::text[], (b.title_card_version)::text, (b.genre)::text, (b.edition_id)::uuid, (NULL)::float8, 0
  FROM books b
  WHERE b.user_id = $1 AND b.id = $2
)
UNION ALL (
  SELECT (s.id)::uuid, (s.position)::text, (s.name)::text, (NULL)::text, (NULL)::text, (NULL)::int8, (NULL)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::uuid, (NULL)::text[], (NULL)::text, (NULL)::text, (NULL)::uuid, (NULL)::float8, 1
  FROM (
    SELECT b.id AS of_book, coalesce(b.series_id, e.series_id) AS id, coalesce(b.series, btrim(e.series)) AS name, CASE WHEN b.series_id IS NULL THEN e.series_position ELSE b.series_position END AS position
    FROM books b
    LEFT JOIN editions e ON e.id = b.edition_id
    WHERE b.user_id = $1 AND b.id = $2 AND coalesce(b.series_id, e.series_id) IS NOT NULL
  ) s
)
UNION ALL (
  SELECT (s.id)::uuid, (s.name)::text, (NULL)::text, (NULL)::text, (NULL)::text, (NULL)::int8, (NULL)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::uuid, (NULL)::text[], (NULL)::text, (NULL)::text, (NULL)::uuid, (NULL)::float8, 2
  FROM shelf_books sb
  JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
  WHERE sb.user_id = $1 AND sb.book_id = $2
  ORDER BY s.position, s.id
)
UNION ALL (
  SELECT (NULL)::uuid, (r.text)::text, (NULL)::text, (NULL)::text, (NULL)::text, (NULL)::int8, (NULL)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::uuid, (NULL)::text[], (NULL)::text, (NULL)::text, (NULL)::uuid, (r.quarter_stars::float8 / 4)::float8, 3
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = $2
)
UNION ALL (
  SELECT (r.id)::uuid, (r.started_on)::text, (NULL)::text, (NULL)::text, (NULL)::text, (NULL)::int8, (NULL)::text, (NULL)::text[], (NULL)::text[], (NULL)::uuid[], (NULL)::uuid, (NULL)::text[], (NULL)::text, (NULL)::text, (NULL)::uuid, (NULL)::float8, 4
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = $2 AND r.outcome = 'READING'
);

SELECT n.id, n.text, n.comment, coalesce(n.page, (
  SELECT round(progress_fraction(n.page, n.percent, n.seconds, b.page_count, l.seconds) * b.page_count)::int
  FROM books b
  CROSS JOIN LATERAL (
    SELECT audio_length(b.user_id, b.id) AS seconds
  ) l
  WHERE b.user_id = n.user_id AND b.id = n.book_id
)), n.position, n.created_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT n.*
  FROM (
    SELECT o.*, note_position(o.page, o.percent, o.seconds, b.page_count, l.seconds) AS position
    FROM books b
    CROSS JOIN LATERAL (
      SELECT audio_length(b.user_id, b.id) AS seconds
    ) l
    JOIN notes o ON o.user_id = b.user_id AND o.book_id = b.id
    WHERE b.user_id = $1 AND b.id = k.id
  ) n
  WHERE true
  ORDER BY n.position, n.created_at, n.id
  LIMIT $3
) n;
