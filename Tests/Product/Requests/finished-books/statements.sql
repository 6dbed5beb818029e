-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT u.id
FROM users u
WHERE u.id = $1 AND u.id = $2;

SELECT b.title, b.authors, b.author_roles, b.author_ids, l.sort_title, l.book_id, k.n
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
CROSS JOIN LATERAL (
  SELECT l.*
  FROM ( (
    SELECT l.book_id, l.sort_title
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 1 AND 1 = ANY($5)
    ORDER BY l.sort_title, l.book_id
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.sort_title
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 2 AND 2 = ANY($5)
    ORDER BY l.sort_title, l.book_id
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.sort_title
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 3 AND 3 = ANY($5)
    ORDER BY l.sort_title, l.book_id
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.sort_title
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 4 AND 4 = ANY($5)
    ORDER BY l.sort_title, l.book_id
    LIMIT $3
  ) UNION ALL (
    SELECT l.book_id, l.sort_title
    FROM listed_books l
    WHERE l.user_id = $1 AND l.list_rank = 5 AND 5 = ANY($5)
    ORDER BY l.sort_title, l.book_id
    LIMIT $3
  ) ) l
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

SELECT coalesce( (
  SELECT c.books[5] * (5 = ANY($5))::int + c.books[4] * (4 = ANY($5))::int + c.books[3] * (3 = ANY($5))::int + c.books[2] * (2 = ANY($5))::int + c.books[1] * (1 = ANY($5))::int
  FROM library_counts c
  WHERE c.user_id = $1
), (
  SELECT count(*)
  FROM listed_books l
  WHERE l.user_id = $1 AND l.list_rank = ANY($5)
) )
FROM unnest($2::uuid[]) WITH ORDINALITY k (id, n)
ORDER BY k.n;
