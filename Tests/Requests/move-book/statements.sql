-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH book AS (
  SELECT id, added_at
  FROM books
  WHERE user_id = $1 AND id = $2
), added AS (
  INSERT INTO shelf_books (user_id, shelf_id, book_id, added_at)
  SELECT $1, $3, id, added_at
  FROM book
  ON CONFLICT DO NOTHING
)
SELECT id
FROM book;

DELETE FROM shelf_books
WHERE user_id = $1 AND book_id = $2 AND shelf_id <> $3 AND ($4 IS NULL OR shelf_id = $4)
RETURNING shelf_id;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id
FROM books b
WHERE b.user_id = $1 AND b.id = ANY($2);

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT sb.book_id, s.name
FROM shelf_books sb
JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
WHERE sb.user_id = $1 AND sb.book_id = $2
ORDER BY s.position, s.id;
