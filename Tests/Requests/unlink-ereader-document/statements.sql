-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE ereader_documents
SET book_id = NULL
WHERE user_id = $1 AND id = $2;

SELECT d.id, d.book_id
FROM ereader_documents d
WHERE d.user_id = $1 AND d.id = ANY($2);
