-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT zone
FROM zone_to_store($1) AS zone
WHERE zone IS NOT NULL;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

UPDATE users
SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, time_zone = coalesce($6, time_zone), languages = CASE WHEN $7 THEN $8 ELSE languages END, updated_at = now()
WHERE id = $1;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT u.id, u.time_zone
  FROM users u
  WHERE u.id = $1 AND u.id = requested.id
  OFFSET 0
) found;
