-- round trip 1
SELECT begin_request($1, $2, $3, $4);

UPDATE users
SET display_name = CASE WHEN $2 THEN $3 ELSE display_name END, preferred_genres = CASE WHEN $4 THEN $5 ELSE preferred_genres END, updated_at = now()
WHERE id = $1;

SELECT u.id, u.display_name, u.preferred_genres
FROM users u
WHERE u.id = $1 AND u.id = ANY($2);
