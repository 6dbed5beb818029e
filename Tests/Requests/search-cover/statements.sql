-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books
SET cover_status = 'FETCHING', cover_requested_at = now()
WHERE user_id = $1 AND id = $2;

SELECT b.id, b.user_id, (
  SELECT c.version
  FROM covers c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
), b.title, b.author, b.genre, CASE WHEN b.cover_status = 'FETCHING' AND b.cover_requested_at < now() - interval '55 seconds' THEN CASE WHEN EXISTS (
  SELECT
  FROM covers c
  WHERE c.user_id = b.user_id AND c.book_id = b.id
) THEN 'READY' ELSE 'NOT_FOUND' END::cover_status ELSE b.cover_status END
FROM books b
WHERE b.user_id = $1 AND b.id = ANY($2);

SELECT enqueue_cover_searches($1, $2, $3);

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
