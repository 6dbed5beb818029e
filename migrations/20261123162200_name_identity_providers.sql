-- Why: apps name the provider of an identity token. A provider has client IDs of its own, and publishes where its keys are.

-- Without `jwks_url`, the address of the keys comes from the discovery document of the issuer. Without audiences, those of the tenant
-- count.
ALTER TABLE identity_providers
    ADD COLUMN name text CHECK (char_length(name) BETWEEN 1 AND 500),
    ADD COLUMN audiences text[] NOT NULL DEFAULT '{}',
    ALTER COLUMN jwks_url DROP NOT NULL;
UPDATE identity_providers
SET name = issuer;
ALTER TABLE identity_providers ALTER COLUMN name SET NOT NULL;
CREATE UNIQUE INDEX identity_providers_name ON identity_providers (tenant_id, name);
