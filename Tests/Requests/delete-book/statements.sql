-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT shelf_id
FROM shelf_books
WHERE user_id = $1 AND book_id = $2;

DELETE FROM books
WHERE user_id = $1 AND id = $2
RETURNING id, title, author, genre;

UPDATE users
SET signals_version = signals_version + 1
WHERE id = $1;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);

SELECT book_id, version
FROM removed_covers
WHERE user_id = $1 AND kept_until IS NULL
LIMIT 200;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT s.id, s.name
FROM shelves s
WHERE s.user_id = $1 AND s.id = ANY($2);
