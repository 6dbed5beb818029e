-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT md5(concat_ws(' ', s.user_id, s.edition_id, (extract(epoch FROM s.swiped_at) * 1000000)::int8))::uuid, s.scope, least(s.swiped_at, s.recorded_at), s.edition_id, s.swiped_at, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT s.*
  FROM swipes s
  WHERE s.user_id = $1 AND s.action = 'DISLIKE' AND s.undone_at IS NULL AND NOT EXISTS (
    SELECT
    FROM swipes n
    WHERE n.user_id = $1 AND n.edition_id = s.edition_id AND n.undone_at IS NULL AND n.swiped_at >= least(s.swiped_at, s.recorded_at) AND (least(n.swiped_at, n.recorded_at), n.swiped_at) > (least(s.swiped_at, s.recorded_at), s.swiped_at)
    OFFSET 0
  )
  ORDER BY least(s.swiped_at, s.recorded_at) DESC, s.edition_id DESC, s.swiped_at DESC
  LIMIT $3
) s;
