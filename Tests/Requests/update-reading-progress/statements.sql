-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET status = $3::reading_status, started_at = CASE WHEN status = 'READING' THEN started_at ELSE now() END, current_page = $4, updated_at = now()
WHERE user_id = $1 AND id = $2 AND ($4 <= b.page_count) IS NOT FALSE
RETURNING b.id, b.status, b.current_page, b.started_at;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
