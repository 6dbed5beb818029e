-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH kept AS MATERIALIZED (
  SELECT c.loan_id, EXISTS (
    SELECT
    FROM jsonb_array_elements(c.past_loans) p
    WHERE (p ->> 'id')::uuid = $3
  ) AS has_ended
  FROM book_copies c
  WHERE c.user_id = $1 AND c.id = $2
), lent AS (
  UPDATE book_copies c
  SET loan_id = $3, borrower = $4, lent_on = coalesce($5, c.lent_on, (
    SELECT to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD')
    FROM users u
    WHERE u.id = $1
  )), due_on = CASE WHEN $7 THEN $6 ELSE c.due_on END, updated_at = now()
  FROM kept k
  WHERE c.user_id = $1 AND c.id = $2 AND NOT k.has_ended AND (c.loan_id IS NULL OR c.loan_id = $3) AND (c.loan_id IS NULL OR c.borrower <> $4 OR c.lent_on <> $5 OR ($7 AND c.due_on IS DISTINCT FROM $6))
  RETURNING c.id
)
SELECT NOT k.has_ended AND k.loan_id IS DISTINCT FROM $3 AND NOT EXISTS (
  SELECT
  FROM lent
), k.loan_id
FROM kept k;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT c.id, loan_of_copy(c)::text
  FROM book_copies c
  WHERE c.user_id = $1 AND c.id = requested.id
  OFFSET 0
) found;
