-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT named.name, g.id, g.slug, g.name, g.editions
FROM unnest($1::text[]) AS named (name)
JOIN genre_aliases a ON a.alias = search_fold(named.name)
JOIN genres g ON g.id = a.genre_id;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

UPDATE users
SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, time_zone = coalesce($6, time_zone), languages = CASE WHEN $7 THEN $8 ELSE languages END, updated_at = now()
WHERE id = $1;

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT u.id, u.display_name, u.preferred_genres
  FROM users u
  WHERE u.id = $1 AND u.id = requested.id
  OFFSET 0
) found;
