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
