-- Why: an app may have other OpenID providers beside Apple, and a share of the server of its own.

alter table tenants add requests_per_minute int check (requests_per_minute > 0);

-- Where the keys of an issuer are that the server's configuration does not know.
create table identity_providers (
  tenant_id uuid not null references tenants on delete cascade,
  issuer text not null check (issuer ~ '^https?://[^[:space:][:cntrl:]]+$' and char_length(issuer) <= 500),
  jwks_url text not null check (jwks_url ~ '^https?://[^[:space:][:cntrl:]]+$' and char_length(jwks_url) <= 500),
  primary key (tenant_id, issuer)
);
grant select on identity_providers to bookplate_app;
