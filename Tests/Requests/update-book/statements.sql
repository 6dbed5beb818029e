-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET genre = $3, status = $4::reading_status, finished_at = CASE WHEN status = 'READ' THEN finished_at ELSE now() END, current_page = $5, updated_at = now()
WHERE user_id = $1 AND id = $2 AND ($5 <= b.page_count) IS NOT FALSE
RETURNING b.id, b.status, b.finished_at;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
