-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT link_document($1, $2, $3);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT d.id, 100 * d.fraction, d.book_id
  FROM ereader_documents d
  WHERE d.user_id = $1 AND d.id = requested.id
  OFFSET 0
) found;

-- round trip 2
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT b.id, b.status
FROM books b
WHERE b.user_id = $1 AND b.id = $2;

-- round trip 3
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT r.book_id, r.id
FROM reads r
WHERE r.user_id = $1 AND r.book_id = $2 AND r.outcome = 'READING';

-- round trip 4
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true);

SELECT p.read_id, coalesce(p.percent, (
  SELECT 100 * progress_fraction(p.page, p.percent, p.seconds, b.page_count, r.length_seconds)
  FROM reads r
  JOIN books b ON b.user_id = r.user_id AND b.id = r.book_id
  WHERE r.user_id = p.user_id AND r.id = p.read_id
))
FROM reads of_read
CROSS JOIN LATERAL (
  SELECT *
  FROM progress_entries l
  WHERE l.user_id = $1 AND l.read_id = of_read.id
  ORDER BY l.at DESC, l.id DESC
  LIMIT 1
) p
WHERE of_read.user_id = $1 AND of_read.id = $2;
