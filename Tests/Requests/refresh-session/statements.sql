-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true);

SELECT refresh_hash, generation, rotated_at > now() - interval '60 s', EXISTS (
  SELECT
  FROM feed_frontiers f
  WHERE f.user_id = app_user_id() AND f.seen_at <= (
    SELECT frontiers_valid_since
    FROM feed_state
  )
)
FROM sessions
WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now() FOR UPDATE;

UPDATE sessions
SET refresh_hash = $4, generation = generation + 1, rotated_at = now(), expires_at = now() + interval '90 days'
WHERE user_id = $1 AND id = $2 AND refresh_hash = $3 AND revoked_at IS NULL AND expires_at > now();
