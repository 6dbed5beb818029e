-- round trip 1
SELECT t.id, t.slug, t.name, t.issuers, t.audiences, t.requests_per_minute, t.guests, t.oauth, t.oauth_registration, t.mcp, t.rating_step::int, t.guest_books_max, t.sharing, array(
  SELECT p.name
  FROM identity_providers p
  WHERE p.tenant_id = t.id
  ORDER BY p.issuer
), array(
  SELECT p.issuer
  FROM identity_providers p
  WHERE p.tenant_id = t.id
  ORDER BY p.issuer
), array(
  SELECT coalesce(p.jwks_url, '')
  FROM identity_providers p
  WHERE p.tenant_id = t.id
  ORDER BY p.issuer
), array(
  SELECT array_to_string(p.audiences, E'\n')
  FROM identity_providers p
  WHERE p.tenant_id = t.id
  ORDER BY p.issuer
)
FROM tenants t
ORDER BY t.created_at, t.id;

-- round trip 2
SELECT set_config('app.user_id', '', true), set_config('app.tenant_id', $1::text, true), set_config('app.subject', $2, true);

SELECT user_id, guest_outcome
FROM sign_in($1, $2, $3, $4, $5);

WITH outdated AS (
  UPDATE feed_readers f
  SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, now())
  FROM users u
  WHERE f.user_id = app_user_id() AND u.id = app_user_id() AND u.languages = '{}' AND $3::text[] <> '{}'
)
UPDATE users
SET email = coalesce($1, email), display_name = coalesce(display_name, $2), languages = CASE WHEN languages = '{}' THEN $3 ELSE languages END
WHERE id = app_user_id() AND ( email IS DISTINCT FROM coalesce($1, email) OR display_name IS DISTINCT FROM coalesce(display_name, $2) OR (languages = '{}' AND $3 <> '{}') );

SELECT open_session( $1, $2, $3, to_timestamp($4), 90, 60, $5, $6 );

SELECT u.created_at = s.created_at, NOT EXISTS (
  SELECT
  FROM feed_decks d
  WHERE d.user_id = u.id AND d.filter = '{}' AND d.number = 0 AND d.signals_version = coalesce((
    SELECT f.signals_version
    FROM feed_readers f
    WHERE f.user_id = u.id
  ), 0) AND d.created_at > greatest( (
    SELECT decks_valid_since
    FROM feed_state
  ), now() - interval '1 day' )
) AND NOT ((
  SELECT preferred_genres = '{}' AND cardinality(languages) <= 1
  FROM users
  WHERE id = u.id
) AND NOT EXISTS (
  SELECT
  FROM swipes s
  WHERE s.user_id = u.id AND s.undone_at IS NULL
) AND NOT EXISTS (
  SELECT
  FROM followed_authors f
  WHERE f.user_id = u.id
) AND NOT EXISTS (
  SELECT
  FROM books b
  WHERE b.user_id = u.id AND b.edition_id IS NOT NULL
))
FROM users u
JOIN sessions s ON s.user_id = u.id
WHERE u.id = app_user_id() AND s.id = $1;

SELECT pg_logical_emit_message(true, 'bookplate', '')
WHERE current_setting('synchronous_standby_names') <> '';

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id, u.display_name
FROM users u
WHERE u.id = $1 AND u.id = $2;
