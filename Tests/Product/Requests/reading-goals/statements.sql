-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT g.user_id, g.id, g.unit, g.target, reading_goal_progress($1, g.year, g.unit), g.target * elapsed_part( g.year, (
  SELECT (now() AT TIME ZONE known_zone(u.time_zone))::date
  FROM users u
  WHERE u.id = $1
) ), reading_goal_progress($1, g.year, g.unit) >= floor(g.target * elapsed_part( g.year, (
  SELECT (now() AT TIME ZONE known_zone(u.time_zone))::date
  FROM users u
  WHERE u.id = $1
) )), reading_goal_progress($1, g.year, g.unit) >= g.target
FROM reading_goals g
WHERE g.user_id = $1 AND g.user_id = $2 AND ($3::int IS NULL OR g.year = $3)
ORDER BY g.year DESC, g.unit;
