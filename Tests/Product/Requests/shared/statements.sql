-- round trip 1
SELECT owner, shelf, review, note, of_year, app, reader
FROM open_shared_link($1);

-- round trip 2
SELECT owner, shelf, review, note, of_year, app, reader
FROM open_shared_link($1);

SELECT s.name, NULL::int, false, NULL::text, NULL::text, NULL::text, NULL::int, 0::bigint, 0::bigint, 0::bigint, NULL::text[]
FROM shelves s
WHERE s.user_id = $1 AND s.id = $2;

SELECT l.key::text, l.entry, b.id, b.title::text, b.author, b.genre::text, i.image[1], i.image[2], i.image[3]::int, i.image[4]::int, i.image[5]
FROM (
  SELECT s.book_id, s.added_at AS key, s.book_id AS entry
  FROM shelf_books s
  WHERE s.user_id = $1 AND s.shelf_id = $2 AND (s.added_at, s.book_id) < (coalesce($3::text::timestamptz, 'infinity'), coalesce($4, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
  ORDER BY s.added_at DESC, s.book_id DESC
  LIMIT 49
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
CROSS JOIN LATERAL (
  SELECT coalesce( CASE WHEN b.cover_status IN ('READY', 'FETCHING') THEN (
    SELECT ARRAY[ NULL, c.version, c.width::text, c.height::text, c.dominant_color, c.blur_hash ]
    FROM covers c
    WHERE c.user_id = b.user_id AND c.book_id = b.id
  ) END, (
    SELECT ARRAY[ e.id::text, e.cover_version, e.cover_width::text, e.cover_height::text, e.cover_dominant_color, e.cover_blur_hash, e.title_card_version ]
    FROM editions e
    WHERE e.id = b.edition_id AND CASE WHEN e.cover_version IS NOT NULL THEN NOT b.is_cover_removed ELSE (b.title, b.genre) IS NOT DISTINCT FROM (e.title, e.genres[1]) AND b.authors = e.authors END
  ) ) AS image
) i
ORDER BY l.key DESC, l.entry DESC;
