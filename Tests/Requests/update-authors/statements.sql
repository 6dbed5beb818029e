-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE books b
SET authors = $3, author_roles = $4::author_role[], written_author = $5, updated_at = now()
WHERE user_id = $1 AND id = $2;

SELECT link_books(ARRAY[$1], ARRAY[$2]);

UPDATE users
SET signals_version = signals_version + 1
WHERE id = $1;

SELECT enqueue_job($1, $2, $3, $4, $5, $6, $7);

SELECT b.id, b.authors, b.author_roles, b.author_ids
FROM books b
WHERE b.user_id = $1 AND b.id = ANY($2);
