-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.title, b.score, b.added_at, b.id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT b.*
  FROM (
    SELECT b.*, ( similarity(b.search_text, (
      SELECT search_fold($5)
    )) + word_similarity((
      SELECT search_fold($5)
    ), b.search_text) )::float8 AS score
    FROM books b
    WHERE b.user_id = $1 AND b.id = ANY (ARRAY(
      WITH searched AS MATERIALIZED (
        SELECT o.id, o.title, concat_ws(' ', o.search_text, e.search_text) AS text
        FROM books o
        LEFT JOIN editions e ON e.id = o.edition_id
        WHERE o.user_id = $1
      ), exact AS MATERIALIZED (
        SELECT s.id
        FROM searched s
        WHERE CASE (
          SELECT search_fold($5)
        ) WHEN '' THEN strpos(s.title, $5) > 0 ELSE ' ' || s.text LIKE ALL ((
          SELECT array_agg('% ' || word || '%')
          FROM unnest(string_to_array(search_fold($5), ' ')) word
        )::text[]) END
      )
      SELECT id
      FROM exact
      UNION ALL
      SELECT s.id
      FROM searched s
      WHERE NOT EXISTS (
        SELECT
        FROM exact
      ) AND (
        SELECT search_fold($5)
      ) <> '' AND search_matches(s.text, (
        SELECT search_fold($5)
      ))
    ))
    OFFSET 0
  ) b
  WHERE true
  ORDER BY b.score DESC, b.added_at DESC, b.id DESC
  LIMIT $3
) b;
