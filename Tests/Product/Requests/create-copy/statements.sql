-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH given AS MATERIALIZED (
  SELECT b.id, k.book_id AS kept_book, EXISTS (
    SELECT
    FROM reading_tombstones t
    WHERE t.user_id = $1 AND t.id = $3
  ) AS is_deleted, (
    SELECT count(*)
    FROM book_copies o
    WHERE o.user_id = $1 AND o.book_id = $2
  ) AS copies
  FROM (
    SELECT
  ) n
  LEFT JOIN books b ON b.user_id = $1 AND b.id = $2
  LEFT JOIN book_copies k ON k.user_id = $1 AND k.id = $3
), added AS (
  INSERT INTO book_copies (user_id, id, book_id, format, place, note)
  SELECT $1, $3, id, $4, $5, $6
  FROM given
  WHERE id IS NOT NULL AND kept_book IS NULL AND NOT is_deleted AND copies < 20
  ON CONFLICT DO NOTHING
)
SELECT CASE WHEN id IS NULL THEN 'BOOK' WHEN kept_book <> id THEN 'TAKEN' WHEN kept_book IS NOT NULL THEN NULL WHEN is_deleted THEN 'DELETED' WHEN copies >= 20 THEN 'FULL' END
FROM given;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT c.id, c.format, c.place, c.note, c.book_id
  FROM book_copies c
  WHERE c.user_id = $1 AND c.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, EXISTS (
  SELECT
  FROM book_copies c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
)
FROM books b
WHERE b.user_id = $1 AND b.id = $2;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT c.book_id, c.id, c.place, loan_of_copy(c)::text
FROM book_copies c
WHERE c.user_id = $1 AND c.book_id = $2
ORDER BY c.created_at, c.id;
