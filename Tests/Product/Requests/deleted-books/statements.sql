-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT d.id, d.book ->> 'title', ARRAY(
  SELECT jsonb_array_elements_text(d.book -> 'authors')
), ARRAY(
  SELECT jsonb_array_elements_text(d.book -> 'author_roles')
), (ARRAY(
  SELECT jsonb_array_elements_text(d.book -> 'author_ids')
))::uuid[], d.deleted_at, d.deleted_at + restorable_for(), k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT d.*
  FROM deleted_books d
  WHERE d.user_id = $1 AND d.deleted_at > now() - restorable_for() AND NOT EXISTS (
    SELECT
    FROM books b
    WHERE b.user_id = $1 AND b.id = d.id
  )
  ORDER BY d.deleted_at DESC, d.id DESC
  LIMIT $3
) d;
