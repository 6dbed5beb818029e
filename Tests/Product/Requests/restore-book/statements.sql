-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT set_config('statement_timeout', '25000', true);

SELECT outcome, other_id
FROM restore_book($1, $2);

INSERT INTO feed_readers AS f (user_id, signals_version, deck_due_at)
VALUES ($1, 1, now() + $2 * interval '1 millisecond')
ON CONFLICT (user_id) DO UPDATE
SET signals_version = f.signals_version + 1, deck_due_at = least(f.deck_due_at, excluded.deck_due_at);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT b.id, b.title
  FROM books b
  WHERE b.user_id = $1 AND b.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT sb.book_id, s.name
FROM shelf_books sb
JOIN shelves s ON s.user_id = sb.user_id AND s.id = sb.shelf_id
WHERE sb.user_id = $1 AND sb.book_id = $2
ORDER BY s.position, s.id;

SELECT r.book_id, CASE r.quarter_stars WHEN 1 THEN 1 ELSE (r.quarter_stars + 2) / 4 END, r.text
FROM reviews r
WHERE r.user_id = $1 AND r.book_id = $2;
