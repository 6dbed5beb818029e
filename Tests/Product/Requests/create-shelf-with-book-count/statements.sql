-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT id
FROM shelves
WHERE user_id = $1 AND lower(name) = lower($3) AND id <> $2;

INSERT INTO shelves (user_id, id, name, position, description, color)
SELECT $1, $2, $3, coalesce(max(position) + 1, 0), $4, $5::label_color
FROM shelves
WHERE user_id = $1
HAVING count(*) < 500 AND NOT ($1 = $2 OR EXISTS (
  SELECT
  FROM editions
  WHERE id = $2
) OR EXISTS (
  SELECT
  FROM books
  WHERE user_id = $1 AND id = $2
) OR EXISTS (
  SELECT
  FROM deleted_books
  WHERE user_id = $1 AND id = $2
) OR EXISTS (
  SELECT
  FROM reviews
  WHERE user_id = $1 AND id = $2
) OR EXISTS (
  SELECT
  FROM imports
  WHERE user_id = $1 AND id = $2
) OR EXISTS (
  SELECT
  FROM reads
  WHERE user_id = $1 AND id = $2
) OR EXISTS (
  SELECT
  FROM progress_entries
  WHERE user_id = $1 AND id = $2
) OR EXISTS (
  SELECT
  FROM notes
  WHERE user_id = $1 AND id = $2
))
ON CONFLICT DO NOTHING;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT s.id, s.name, s.position, coalesce((
    SELECT c.books
    FROM shelf_counts c
    WHERE c.user_id = $1 AND c.shelf_id = s.id
  ), 0)
  FROM shelves s
  WHERE s.user_id = $1 AND s.id = requested.id
  OFFSET 0
) found;
