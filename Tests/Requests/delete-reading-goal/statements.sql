-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT delete_reading_goal($1, $2);

SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' AND pg_current_xact_id_if_assigned() IS NULL THEN pg_logical_emit_message(true, 'bookplate', '') END;
