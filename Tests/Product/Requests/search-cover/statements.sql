-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books
SET cover_status = 'FETCHING', cover_requested_at = now()
WHERE user_id = $1 AND id = $2;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.user_id, coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
    SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) END, (
    SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
    FROM editions e
    WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
  ) ), b.title_card_version, CASE WHEN b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - interval '55 seconds' THEN CASE WHEN EXISTS (
    SELECT
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) THEN 'READY' ELSE 'NOT_FOUND' END::cover_status ELSE b.cover_status END
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;

SELECT enqueue_cover_searches($1, $2, $3);
