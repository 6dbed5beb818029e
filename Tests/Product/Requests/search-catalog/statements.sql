-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

WITH s AS MATERIALIZED (
  SELECT *
  FROM search_editions($2, $3, $4, $5)
)
SELECT e.id, e.title, e.authors, e.author_roles, e.author_ids, s.score, s.is_match, s.dropped_words
FROM s
JOIN editions e ON e.id = s.id
WHERE e.id = ANY(ARRAY(
  SELECT id
  FROM s
))
ORDER BY s.score DESC, s.id DESC;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.edition_id, b.id
  FROM books b
  WHERE b.user_id = $1 AND b.edition_id = requested.id
  OFFSET 0
) found;
