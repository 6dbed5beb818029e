-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true);

SELECT refresh_hash, generation, rotated_at > now() - interval '60 s', NOT EXISTS (
  SELECT
  FROM feed_decks d
  WHERE d.user_id = $1 AND d.filter = '{}' AND d.number = 0 AND d.signals_version = coalesce((
    SELECT f.signals_version
    FROM feed_readers f
    WHERE f.user_id = $1
  ), 0) AND d.created_at > greatest( (
    SELECT decks_valid_since
    FROM feed_state
  ), now() - interval '1 day' )
) AND NOT ((
  SELECT preferred_genres = '{}' AND cardinality(languages) <= 1
  FROM users
  WHERE id = $1
) AND NOT EXISTS (
  SELECT
  FROM swipes s
  WHERE s.user_id = $1 AND s.undone_at IS NULL
) AND NOT EXISTS (
  SELECT
  FROM followed_authors f
  WHERE f.user_id = $1
) AND NOT EXISTS (
  SELECT
  FROM books b
  WHERE b.user_id = $1 AND b.edition_id IS NOT NULL
))
FROM sessions
WHERE user_id = $1 AND id = $2 AND revoked_at IS NULL AND expires_at > now() AND EXISTS (
  SELECT
  FROM users u
  WHERE u.id = $1 AND u.tenant_id = (
    SELECT app_tenant_id()
  )
) FOR UPDATE;

UPDATE sessions
SET refresh_hash = $4, generation = generation + 1, rotated_at = now(), device_name = coalesce($5, device_name), expires_at = now() + interval '90 days'
WHERE user_id = $1 AND id = $2 AND refresh_hash = $3 AND revoked_at IS NULL AND expires_at > now() AND EXISTS (
  SELECT
  FROM users u
  WHERE u.id = $1 AND u.tenant_id = (
    SELECT app_tenant_id()
  )
);

SELECT pg_logical_emit_message(true, 'bookplate', '')
WHERE current_setting('synchronous_standby_names') <> '';
