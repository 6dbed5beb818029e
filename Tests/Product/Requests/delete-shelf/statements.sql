-- round trip 1
SELECT begin_request($1, $2, $3, $4);

INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at, sort_title, sort_author)
SELECT user_id, $3, book_id, added_at, sort_title, sort_author
FROM shelf_books
WHERE user_id = $1 AND shelf_id = $2
ORDER BY position, book_id
ON CONFLICT DO NOTHING;

DELETE FROM shelves
WHERE user_id = $1 AND id = $2;

UPDATE shelves s
SET position = ranked.position, updated_at = now()
FROM (
  SELECT id, (row_number() OVER (ORDER BY position, id) - 1)::int AS position
  FROM shelves
  WHERE user_id = $1
) ranked
WHERE s.user_id = $1 AND s.id = ranked.id AND s.position <> ranked.position;

SELECT id
FROM shelves
WHERE user_id = $1
ORDER BY position, id;
