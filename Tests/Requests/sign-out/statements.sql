-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE sessions
SET revoked_at = now()
WHERE user_id = $1 AND (id = $2 OR $3) AND revoked_at IS NULL
RETURNING id;

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
