-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

(
  SELECT (u.id)::uuid, (NULL)::text, (NULL)::text, (NULL)::int8, 0
  FROM users u
  WHERE u.id = $1 AND u.id = $2
)
UNION ALL (
  SELECT (s.id)::uuid, (s.name)::text, (s.color)::text, (coalesce((
    SELECT c.books
    FROM shelf_counts c
    WHERE c.user_id = $1 AND c.shelf_id = s.id
  ), 0))::int8, 1
  FROM shelves s
  WHERE s.user_id = $1 AND s.user_id = $2
  ORDER BY s.position, s.id
);

SELECT b.id, b.title, b.status, b.authors, b.author_roles, b.author_ids, b.user_id, coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
  SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
  FROM covers c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
) END, (
  SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
  FROM editions e
  WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
) ), b.title_card_version, b.genre, l.added_at, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM ( (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) ) l
  ORDER BY l.added_at DESC, l.book_id DESC
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.added_at DESC, l.book_id DESC;

SELECT coalesce( (
  SELECT c.books[5] * (5 = ANY($5))::int + c.books[4] * (4 = ANY($5))::int + c.books[3] * (3 = ANY($5))::int + c.books[2] * (2 = ANY($5))::int + c.books[1] * (1 = ANY($5))::int
  FROM library_counts c
  WHERE c.user_id = $1
), (
  SELECT count(*)
  FROM listed_books l
  WHERE l.user_id = $1 AND l.list_rank = ANY($5)
) )
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, r.quarter_stars::float8 / 4
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
  OFFSET 0
) found;
