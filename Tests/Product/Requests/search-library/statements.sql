-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.id, b.title, l.sort_title, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM (
    WITH walked AS MATERIALIZED (
      SELECT l.book_id, l.sort_title
      FROM (
        SELECT l.*
        FROM ( (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
          ORDER BY l.sort_title, l.book_id
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
          ORDER BY l.sort_title, l.book_id
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
          ORDER BY l.sort_title, l.book_id
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
          ORDER BY l.sort_title, l.book_id
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
          ORDER BY l.sort_title, l.book_id
          LIMIT ($3 * 5)
        ) ) l
        ORDER BY l.sort_title, l.book_id
        LIMIT ($3 * 5)
      ) l
      WHERE true AND (' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((
        SELECT library_search_patterns($6)
      )::text[])
      LIMIT $3
    ), ids AS MATERIALIZED (
      SELECT *
      FROM search_books($6, 301, false, NULL) l
      WHERE (
        SELECT count(*)
        FROM walked
      ) < $3
      LIMIT 301
    ), found AS (
      SELECT *
      FROM ids
    ) (
      SELECT *
      FROM walked
      WHERE (
        SELECT count(*)
        FROM walked
      ) >= $3
    )
    UNION ALL (
      SELECT l.book_id, l.sort_title
      FROM found l
      WHERE NOT (
        SELECT count(*) > 300 AND bool_or((' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((
          SELECT library_search_patterns($6)
        )::text[]))
        FROM ids l
      ) AND l.list_rank = ANY($5)
    )
    UNION ALL (
      SELECT *
      FROM (
        SELECT l.book_id, l.sort_title
        FROM (
          SELECT l.*
          FROM ( (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
            ORDER BY l.sort_title, l.book_id
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
            ORDER BY l.sort_title, l.book_id
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
            ORDER BY l.sort_title, l.book_id
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
            ORDER BY l.sort_title, l.book_id
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
            ORDER BY l.sort_title, l.book_id
            LIMIT ($3 * 1000000)
          ) ) l
          ORDER BY l.sort_title, l.book_id
          LIMIT ($3 * 1000000)
        ) l
        WHERE true AND (' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((
          SELECT library_search_patterns($6)
        )::text[])
        LIMIT $3
      ) l
      WHERE (
        SELECT count(*) > 300 AND bool_or((' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((
          SELECT library_search_patterns($6)
        )::text[]))
        FROM ids l
      )
    )
  ) l
  ORDER BY l.sort_title, l.book_id
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.sort_title, l.book_id;

SELECT (
  WITH ids AS MATERIALIZED (
    SELECT *
    FROM search_books($6, 301, false, NULL) l
    WHERE true
    LIMIT 301
  ), found AS (
    SELECT *
    FROM ids
  )
  SELECT CASE WHEN NOT (
    SELECT count(*) > 300 AND bool_or((' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((
      SELECT library_search_patterns($6)
    )::text[]))
    FROM ids l
  ) THEN (
    SELECT count(*)
    FROM found l
    WHERE l.list_rank = ANY($5)
  ) ELSE (
    SELECT count(*)
    FROM (
      SELECT
      FROM listed_books l
      WHERE l.user_id = $1 AND l.list_rank = ANY($5) AND (' ' || left(l.search_text, 2000) || ' ') LIKE ALL ((
        SELECT library_search_patterns($6)
      )::text[])
      LIMIT 1000
    ) n
  ) END
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT r.book_id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END
  FROM reviews r
  WHERE r.user_id = $1 AND r.book_id = requested.id
  OFFSET 0
) found;
