-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT id, $1::text, client_name, is_self_registered, is_device, redirect_uri, scopes, is_allowed, created_at, expires_at
FROM oauth_request_of_reader($1);

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

SELECT decide_oauth_request($1, $2::text[]::access_scope[]);
