-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT e.id, e.title, e.authors, e.author_roles, e.author_ids, e.publisher, e.published_date, e.page_count, e.isbn13
FROM editions e
WHERE true AND e.isbn13 = $2;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.edition_id, b.id
FROM books b
WHERE b.user_id = $1 AND b.edition_id = $2;
