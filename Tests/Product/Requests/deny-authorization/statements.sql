-- round trip 1
SELECT set_config('app.user_id', $1::text, true), set_config('app.tenant_id', $2::text, true), set_config('transaction_read_only', 'on', true), CASE WHEN NOT EXISTS (
  SELECT
  FROM sessions
  WHERE user_id = $1 AND id = $3 AND revoked_at IS NULL AND expires_at > now()
) THEN refuse_session() END;

SELECT r.id, r.user_code, c.name, c.is_self_registered, r.redirect_uri IS NULL, r.redirect_uri, r.scopes::text[], r.is_allowed, r.created_at, r.expires_at
FROM oauth_requests r
JOIN oauth_clients c ON c.id = r.client_id
JOIN tenants t ON t.id = r.tenant_id
WHERE r.tenant_id = app_tenant_id() AND r.user_code = $1 AND r.expires_at > now() AND r.grant_id IS NULL AND coalesce(r.user_id = app_user_id(), true) AND t.oauth;

-- round trip 2
SELECT begin_request($1, $2, $3, $4);

WITH kept AS MATERIALIZED (
  SELECT r.id, r.scopes, r.is_allowed, r.grant_id, $2::text[]::access_scope[] AS allowed
  FROM oauth_requests r
  WHERE r.id = $1 AND r.tenant_id = app_tenant_id() AND r.expires_at > now() AND coalesce(r.user_id = app_user_id(), true) FOR UPDATE
), decision AS MATERIALIZED (
  SELECT k.id, k.scopes, k.allowed, CASE WHEN NOT k.scopes @> coalesce(k.allowed, '{}') THEN 'FOREIGN' WHEN k.is_allowed IS NULL THEN 'NEW' WHEN k.is_allowed AND k.allowed IS NULL AND k.grant_id IS NULL THEN 'NEW' WHEN k.is_allowed <> (k.allowed IS NOT NULL) OR NOT coalesce(k.allowed, k.scopes) @> k.scopes THEN 'DECIDED' ELSE 'DONE' END AS outcome
  FROM kept k
), recorded AS (
  UPDATE oauth_requests r
  SET user_id = app_user_id(), is_allowed = d.allowed IS NOT NULL, scopes = coalesce(d.allowed, d.scopes), code_hash = NULL
  FROM decision d
  WHERE r.id = d.id AND d.outcome = 'NEW'
)
SELECT coalesce((
  SELECT CASE d.outcome WHEN 'NEW' THEN 'DONE' ELSE d.outcome END
  FROM decision d
), 'GONE');
