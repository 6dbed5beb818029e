-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.display_name, u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.id, b.title, b.page_count, b.current_page, b.authors, b.author_roles, b.author_ids, b.user_id, coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
  SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
  FROM covers c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
) END, (
  SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
  FROM editions e
  WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
) ), b.title_card_version, b.genre, l.updated_at, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM ( (
    SELECT l.book_id, l.updated_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
    ORDER BY l.updated_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.updated_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
    ORDER BY l.updated_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.updated_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
    ORDER BY l.updated_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.updated_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
    ORDER BY l.updated_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.updated_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
    ORDER BY l.updated_at DESC, l.book_id DESC
    LIMIT $3
  ) ) l
  ORDER BY l.updated_at DESC, l.book_id DESC
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.updated_at DESC, l.book_id DESC;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT g.user_id, g.target, reading_goal_progress($1, g.year, g.unit), reading_goal_progress($1, g.year, g.unit) >= floor(g.target * elapsed_part( g.year, (
  SELECT (now() AT TIME ZONE known_zone(u.time_zone))::date
  FROM users u
  WHERE u.id = $1
) ))
FROM reading_goals g
WHERE g.user_id = $1 AND g.user_id = $2 AND g.year = $3::int AND g.unit = $4::goal_unit;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, r.id
  FROM reads r
  WHERE r.user_id = $1 AND r.book_id = requested.id AND r.outcome = 'READING'
  OFFSET 0
) found;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT p.read_id, coalesce(p.percent, (
    SELECT 100 * progress_fraction(p.page, p.percent, p.seconds, b.page_count, r.length_seconds)
    FROM reads r
    JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
    WHERE r.user_id = p.user_id AND r.id = p.read_id
  )), p.at
  FROM reads of_read
  CROSS JOIN LATERAL (
    SELECT *
    FROM progress_entries l
    WHERE l.user_id = $1 AND l.read_id = of_read.id
    ORDER BY l.at DESC, l.id DESC
    LIMIT 1
  ) p
  WHERE of_read.user_id = $1 AND of_read.id = requested.id
  OFFSET 0
) found;
