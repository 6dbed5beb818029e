-- Why: operators decide per app whether assistants may call the trusted documents as tools of the Model Context Protocol.
-- same-transaction

ALTER TABLE tenants ADD COLUMN mcp boolean NOT NULL DEFAULT false;

-- The function also returns whether a guest has become an account.
DROP FUNCTION IF EXISTS link_identity(bytea, timestamptz, int);
