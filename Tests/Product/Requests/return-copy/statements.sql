-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH kept AS MATERIALIZED (
  SELECT c.lent_on, coalesce(NOT are_dates_in_order(c.lent_on, $4), false) AS is_reversed
  FROM book_copies c
  WHERE c.user_id = $1 AND c.id = $2 AND c.loan_id IS NOT NULL AND ($3 IS NULL OR c.loan_id = $3)
), ended AS (
  UPDATE book_copies c
  SET past_loans = jsonb_path_query_array( jsonb_build_array( loan_of_copy(c) || jsonb_build_object( 'returnedOn', coalesce($4, greatest((
    SELECT to_char(now() AT TIME ZONE known_zone(u.time_zone), 'YYYY-MM-DD')
    FROM users u
    WHERE u.id = $1
  ) COLLATE "C", k.lent_on)) ) ) || c.past_loans, '$[0 to 19]' ), loan_id = NULL, borrower = NULL, lent_on = NULL, due_on = NULL, updated_at = now()
  FROM kept k
  WHERE c.user_id = $1 AND c.id = $2 AND NOT k.is_reversed
)
SELECT k.is_reversed
FROM kept k;

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
