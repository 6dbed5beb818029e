-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.id, b.title, b.status, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM books b
  WHERE b.user_id = $1 AND CASE WHEN (
    SELECT search_fold($5)
  ) = '' THEN strpos(b.title, $5) > 0 WHEN (
    SELECT EXISTS (
      SELECT
      FROM books o
      WHERE o.user_id = $1 AND ' ' || concat_ws( ' ', o.search_text, (
        SELECT e.search_text
        FROM editions e
        WHERE e.id = o.edition_id
      ) ) LIKE ALL ((
        SELECT array_agg('% ' || word || '%')
        FROM unnest(string_to_array(search_fold($5), ' ')) word
      )::text[])
    )
  ) THEN ' ' || concat_ws( ' ', b.search_text, (
    SELECT e.search_text
    FROM editions e
    WHERE e.id = b.edition_id
  ) ) LIKE ALL ((
    SELECT array_agg('% ' || word || '%')
    FROM unnest(string_to_array(search_fold($5), ' ')) word
  )::text[]) ELSE search_matches(concat_ws( ' ', b.search_text, (
    SELECT e.search_text
    FROM editions e
    WHERE e.id = b.edition_id
  ) ), (
    SELECT search_fold($5)
  )) END
  ORDER BY b.title COLLATE "und-x-icu", b.id
  LIMIT $3
) b;

SELECT (
  SELECT count(*)
  FROM books b
  WHERE b.user_id = $1 AND CASE WHEN (
    SELECT search_fold($5)
  ) = '' THEN strpos(b.title, $5) > 0 WHEN (
    SELECT EXISTS (
      SELECT
      FROM books o
      WHERE o.user_id = $1 AND ' ' || concat_ws( ' ', o.search_text, (
        SELECT e.search_text
        FROM editions e
        WHERE e.id = o.edition_id
      ) ) LIKE ALL ((
        SELECT array_agg('% ' || word || '%')
        FROM unnest(string_to_array(search_fold($5), ' ')) word
      )::text[])
    )
  ) THEN ' ' || concat_ws( ' ', b.search_text, (
    SELECT e.search_text
    FROM editions e
    WHERE e.id = b.edition_id
  ) ) LIKE ALL ((
    SELECT array_agg('% ' || word || '%')
    FROM unnest(string_to_array(search_fold($5), ' ')) word
  )::text[]) ELSE search_matches(concat_ws( ' ', b.search_text, (
    SELECT e.search_text
    FROM editions e
    WHERE e.id = b.edition_id
  ) ), (
    SELECT search_fold($5)
  )) END
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT r.book_id, (r.half_stars + 1) / 2
FROM reviews r
WHERE r.user_id = $1 AND r.book_id = $2;
