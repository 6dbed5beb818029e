-- round trip 1
SELECT begin_request($1, $2, $3, $4);

SELECT delete_reading_goal($1, $2);
