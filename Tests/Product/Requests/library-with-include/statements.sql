-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.display_name, u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.id, b.title, b.description, l.added_at, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM ( (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.added_at
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
    ORDER BY l.added_at DESC, l.book_id DESC
    LIMIT $3
  ) ) l
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
