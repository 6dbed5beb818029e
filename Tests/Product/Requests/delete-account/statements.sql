-- round trip 1
SELECT begin_request($1, $2, $3, $4);

WITH locked_user AS (
  SELECT id
  FROM users
  WHERE id = app_user_id() FOR UPDATE
), counts AS (
  SELECT id, (
    SELECT count(*)
    FROM books
    WHERE user_id = locked_user.id
  )::int AS books, (
    SELECT count(*)
    FROM reviews
    WHERE user_id = locked_user.id
  )::int AS reviews, (
    SELECT count(*)
    FROM covers
    WHERE user_id = locked_user.id
  )::int AS covers
  FROM locked_user
), tombstone AS (
  INSERT INTO account_tombstones (user_hash, session_hash, books, reviews, covers, apple_token_revoked)
  SELECT sha256(uuid_send(id)), sha256(uuid_send($1)), books, reviews, covers, CASE WHEN NOT EXISTS (
    SELECT
    FROM apple_grants
    WHERE user_id = counts.id
  ) THEN false END
  FROM counts
)
SELECT books, reviews, covers
FROM counts;

SELECT enqueue_job( NULL, $1, jsonb_build_object( 'clientID', client_id, 'sealedToken', replace(encode(sealed_token, 'base64'), E'\n', '') ), NULL, $2, 0, $3 ), client_id, sealed_token
FROM apple_grants
WHERE user_id = app_user_id();

SELECT enqueue_job( NULL, $1, jsonb_build_object('userID', app_user_id()), NULL, $2, 0, $3 ), app_user_id()
WHERE app_user_id() IS NOT NULL;

DELETE FROM users
WHERE id = app_user_id();

-- round trip 2
SELECT withdraw_jobs($1);

UPDATE account_tombstones
SET apple_token_revoked = coalesce(apple_token_revoked, $3)
WHERE user_hash = sha256(uuid_send($1)) AND session_hash = sha256(uuid_send($2))
RETURNING apple_token_revoked;

SELECT pg_logical_emit_message(true, 'bookplate', '')
WHERE current_setting('synchronous_standby_names') <> '';
