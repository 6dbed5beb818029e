-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE book_copies c
SET past_loans = jsonb_path_query_array( jsonb_build_array(loan_of_copy(c) || jsonb_build_object('returnedOn', coalesce($4, (
  SELECT to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD')
  FROM users u
  WHERE u.id = $1
)))) || c.past_loans, '$[0 to 19]' ), loan_id = NULL, borrower = NULL, lent_on = NULL, due_on = NULL, updated_at = now()
WHERE c.user_id = $1 AND c.id = $2 AND c.loan_id IS NOT NULL AND ($3 IS NULL OR c.loan_id = $3);

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT c.id, loan_of_copy(c)::text, c.past_loans::text
  FROM book_copies c
  WHERE c.user_id = $1 AND c.id = requested.id
  OFFSET 0
) found;
