-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.title, b.id, l.added_at, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM (
    WITH walked AS MATERIALIZED (
      SELECT l.book_id, l.added_at
      FROM (
        SELECT l.*
        FROM ( (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
          ORDER BY l.added_at DESC, l.book_id DESC
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
          ORDER BY l.added_at DESC, l.book_id DESC
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
          ORDER BY l.added_at DESC, l.book_id DESC
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
          ORDER BY l.added_at DESC, l.book_id DESC
          LIMIT ($3 * 5)
        ) UNION ALL (
          SELECT l.*
          FROM listed_books l
          WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
          ORDER BY l.added_at DESC, l.book_id DESC
          LIMIT ($3 * 5)
        ) ) l
        ORDER BY l.added_at DESC, l.book_id DESC
        LIMIT ($3 * 5)
      ) l
      WHERE true AND (
        SELECT true
        FROM book_copies f
        WHERE f.user_id = $1 AND f.book_id = l.book_id AND (NOT $6 OR f.loan_id IS NOT NULL)
        LIMIT 1
      )
      LIMIT $3
    ), ids AS MATERIALIZED (
      SELECT *
      FROM (
        SELECT DISTINCT f.book_id
        FROM book_copies f
        WHERE f.user_id = $1 AND (NOT $6 OR f.loan_id IS NOT NULL)
      ) c
      WHERE (
        SELECT count(*)
        FROM walked
      ) < $3
      LIMIT 301
    ), found AS MATERIALIZED (
      SELECT l.*
      FROM ids
      CROSS JOIN LATERAL (
        SELECT *
        FROM listed_books l
        WHERE l.user_id = $1 AND l.book_id = ids.book_id
        OFFSET 0
      ) l
      WHERE (
        SELECT count(*)
        FROM ids
      ) <= 300
    ) (
      SELECT *
      FROM walked
      WHERE (
        SELECT count(*)
        FROM walked
      ) >= $3
    )
    UNION ALL (
      SELECT l.book_id, l.added_at
      FROM found l
      WHERE NOT (
        SELECT count(*) > 300
        FROM ids l
      ) AND l.list_rank = ANY($5) AND (
        SELECT true
        FROM book_copies f
        WHERE f.user_id = $1 AND f.book_id = l.book_id AND (NOT $6 OR f.loan_id IS NOT NULL)
        LIMIT 1
      )
    )
    UNION ALL (
      SELECT *
      FROM (
        SELECT l.book_id, l.added_at
        FROM (
          SELECT l.*
          FROM ( (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
            ORDER BY l.added_at DESC, l.book_id DESC
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
            ORDER BY l.added_at DESC, l.book_id DESC
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
            ORDER BY l.added_at DESC, l.book_id DESC
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
            ORDER BY l.added_at DESC, l.book_id DESC
            LIMIT ($3 * 1000000)
          ) UNION ALL (
            SELECT l.*
            FROM listed_books l
            WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
            ORDER BY l.added_at DESC, l.book_id DESC
            LIMIT ($3 * 1000000)
          ) ) l
          ORDER BY l.added_at DESC, l.book_id DESC
          LIMIT ($3 * 1000000)
        ) l
        WHERE true AND (
          SELECT true
          FROM book_copies f
          WHERE f.user_id = $1 AND f.book_id = l.book_id AND (NOT $6 OR f.loan_id IS NOT NULL)
          LIMIT 1
        )
        LIMIT $3
      ) l
      WHERE (
        SELECT count(*) > 300
        FROM ids l
      )
    )
  ) l
  ORDER BY l.added_at DESC, l.book_id DESC
  LIMIT $3
) l
CROSS JOIN LATERAL (
  SELECT *
  FROM books b
  WHERE b.user_id = $1 AND b.id = l.book_id
  OFFSET 0
) b
ORDER BY k.n, l.added_at DESC, l.book_id DESC;

SELECT (
  WITH ids AS MATERIALIZED (
    SELECT *
    FROM (
      SELECT DISTINCT f.book_id
      FROM book_copies f
      WHERE f.user_id = $1 AND (NOT $6 OR f.loan_id IS NOT NULL)
    ) c
    WHERE true
    LIMIT 301
  ), found AS MATERIALIZED (
    SELECT l.*
    FROM ids
    CROSS JOIN LATERAL (
      SELECT *
      FROM listed_books l
      WHERE l.user_id = $1 AND l.book_id = ids.book_id
      OFFSET 0
    ) l
    WHERE (
      SELECT count(*)
      FROM ids
    ) <= 300
  )
  SELECT CASE WHEN NOT (
    SELECT count(*) > 300
    FROM ids l
  ) THEN (
    SELECT count(*)
    FROM found l
    WHERE l.list_rank = ANY($5) AND (
      SELECT true
      FROM book_copies f
      WHERE f.user_id = $1 AND f.book_id = l.book_id AND (NOT $6 OR f.loan_id IS NOT NULL)
      LIMIT 1
    )
  ) ELSE (
    SELECT count(*)
    FROM (
      SELECT
      FROM listed_books l
      WHERE l.user_id = $1 AND l.list_rank = ANY($5) AND (
        SELECT true
        FROM book_copies f
        WHERE f.user_id = $1 AND f.book_id = l.book_id AND (NOT $6 OR f.loan_id IS NOT NULL)
        LIMIT 1
      )
      LIMIT 1000
    ) n
  ) END
)
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT c.book_id, c.format, c.place
FROM book_copies c
WHERE c.user_id = $1 AND c.book_id = $2
ORDER BY c.created_at, c.id;
