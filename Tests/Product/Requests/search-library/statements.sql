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
  WHERE b.user_id = $1 AND b.id = ANY (ARRAY(
    WITH searched AS MATERIALIZED (
      SELECT o.id, o.title, concat_ws(' ', '', left(o.search_text, 2000), left(e.search_text, 2000), '') AS text
      FROM books o
      LEFT JOIN editions e ON e.id = o.edition_id
      WHERE o.user_id = $1
    ), exact AS MATERIALIZED (
      SELECT s.id
      FROM searched s
      WHERE CASE (
        SELECT left(search_fold($5), 400)
      ) WHEN '' THEN strpos(s.title, $5) > 0 ELSE s.text LIKE ALL ((
        SELECT array_agg('% ' || word || '%')
        FROM unnest((
          SELECT (search_query_words($5))[1:12]
        )) word
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
      SELECT left(search_fold($5), 400)
    ) <> '' AND s.text ~ ALL ((
      SELECT search_patterns( (
        SELECT (search_query_words($5))[1:12]
      ), ARRAY(
        SELECT DISTINCT k.word
        FROM (
          SELECT string_to_table(text, ' ') AS word
          FROM searched
          LIMIT 200000
        ) k
        WHERE length(k.word) BETWEEN 2 AND 42
        LIMIT 20000
      ))
    )::text[])
  ))
  ORDER BY b.title COLLATE "und-x-icu", b.id
  LIMIT $3
) b;

SELECT (
  SELECT count(*)
  FROM books b
  WHERE b.user_id = $1 AND b.id = ANY (ARRAY(
    WITH searched AS MATERIALIZED (
      SELECT o.id, o.title, concat_ws(' ', '', left(o.search_text, 2000), left(e.search_text, 2000), '') AS text
      FROM books o
      LEFT JOIN editions e ON e.id = o.edition_id
      WHERE o.user_id = $1
    ), exact AS MATERIALIZED (
      SELECT s.id
      FROM searched s
      WHERE CASE (
        SELECT left(search_fold($5), 400)
      ) WHEN '' THEN strpos(s.title, $5) > 0 ELSE s.text LIKE ALL ((
        SELECT array_agg('% ' || word || '%')
        FROM unnest((
          SELECT (search_query_words($5))[1:12]
        )) word
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
      SELECT left(search_fold($5), 400)
    ) <> '' AND s.text ~ ALL ((
      SELECT search_patterns( (
        SELECT (search_query_words($5))[1:12]
      ), ARRAY(
        SELECT DISTINCT k.word
        FROM (
          SELECT string_to_table(text, ' ') AS word
          FROM searched
          LIMIT 200000
        ) k
        WHERE length(k.word) BETWEEN 2 AND 42
        LIMIT 20000
      ))
    )::text[])
  ))
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT r.book_id, (r.half_stars + 1) / 2
FROM reviews r
WHERE r.user_id = $1 AND r.book_id = $2;
