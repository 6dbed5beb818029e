-- round trip 1
SELECT begin_request($1, $2, $3, $4);

INSERT INTO shelves (user_id, id, name, position)
SELECT $1, $2, $3, coalesce(max(position) + 1, 0)
FROM shelves
WHERE user_id = $1
HAVING count(*) < 500
ON CONFLICT DO NOTHING;

SELECT id
FROM shelves
WHERE user_id = $1 AND lower(name) = lower($3) AND id <> $2;

SELECT s.id, s.name, s.position
FROM shelves s
WHERE s.user_id = $1 AND s.id = ANY($2);
