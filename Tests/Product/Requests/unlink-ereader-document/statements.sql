-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE ereader_documents
SET book_id = NULL
WHERE user_id = $1 AND id = $2;

SELECT found.*
FROM (
  SELECT unnest($2::uuid[]) AS id
) requested
CROSS JOIN LATERAL (
  SELECT d.id, d.book_id
  FROM ereader_documents d
  WHERE d.user_id = $1 AND d.id = requested.id
  OFFSET 0
) found;
