-- Why: other systems must receive the changes of a tenant's libraries without polling for them.
-- same-transaction

-- Addresses that receive the events of a tenant's users.
CREATE TABLE webhooks (
    id uuid PRIMARY KEY,
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    url text NOT NULL CHECK (url ~ '^https?://[^[:space:][:cntrl:]]+$' AND char_length(url) <= 2000),
    -- Event types, such as `book.updated`, and patterns: `book.*`, or `*` for all.
    event_types text[] NOT NULL CHECK (cardinality(event_types) BETWEEN 1 AND 50),
    -- Encrypted with the sealing key of the installation.
    sealed_secret bytea NOT NULL,
    -- The secret before the last rotation. Deliveries are also signed with it until this time.
    sealed_previous_secret bytea,
    previous_secret_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When the receiver responded with status 410. Nothing is sent until an operator enables the webhook.
    disabled_at timestamptz,
    -- The number of failed attempts since the last successful one.
    failures int NOT NULL DEFAULT 0,
    -- Nothing is sent before this time, because the receiver is down or has asked for a pause.
    paused_until timestamptz,
    CHECK ((sealed_previous_secret IS NULL) = (previous_secret_until IS NULL))
);
ALTER TABLE webhooks ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX webhooks_tenant_id ON webhooks (tenant_id);

-- Users with changes or cover events for which deliveries do not exist yet. The first change after the last collection adds
-- the row, so later changes write nothing. A trigger of `users` deletes the rows of a deleted user.
CREATE TABLE webhook_positions (
    user_id uuid PRIMARY KEY,
    -- The newest entries of the change log and the outbox that were collected.
    change_seq bigint NOT NULL,
    event_id bigint NOT NULL
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000
);
ALTER TABLE webhook_positions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE TYPE webhook_delivery_state AS ENUM ('WAITING', 'DELIVERED', 'DEAD');

-- Events to send, and those that were sent. They contain ids, but no other data of users. A trigger of `users` deletes the
-- rows of a deleted user, and adds the event `account.deleted`; therefore there is no foreign key.
CREATE TABLE webhook_deliveries (
    user_id uuid NOT NULL,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    webhook_id uuid NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    -- The order of the events of a user.
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    type text NOT NULL,
    -- The object that was changed, or the book of the cover. Null for events of the account.
    object_id uuid,
    -- The entry of the change log; null for other events.
    change_seq bigint,
    event_at timestamptz NOT NULL,
    state webhook_delivery_state NOT NULL DEFAULT 'WAITING',
    attempts int NOT NULL DEFAULT 0,
    -- When the next attempt is due. Only the oldest waiting delivery of a user has it, because events are sent in order.
    due_at timestamptz,
    -- When a waiting delivery becomes dead, and when a delivered or dead one is deleted.
    expires_at timestamptz NOT NULL,
    -- The time, the status, and the error of the last attempt.
    attempted_at timestamptz,
    last_status int,
    last_error text,
    PRIMARY KEY (user_id, id),
    CHECK (due_at IS NULL OR state = 'WAITING')
) WITH (
    autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 1000
);
ALTER TABLE webhook_deliveries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
-- Lists the deliveries of a webhook.
CREATE INDEX webhook_deliveries_webhook_id ON webhook_deliveries (webhook_id, number);
-- Finds the oldest waiting delivery of a user.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, user_id, number)
    WHERE state = 'WAITING';
CREATE UNIQUE INDEX webhook_deliveries_next ON webhook_deliveries (webhook_id, user_id)
    WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_due_at ON webhook_deliveries (webhook_id, due_at)
    WHERE due_at IS NOT NULL;
-- Lists and counts dead letters.
CREATE INDEX webhook_deliveries_dead ON webhook_deliveries (webhook_id, user_id)
    WHERE state = 'DEAD';
CREATE INDEX webhook_deliveries_expires_at ON webhook_deliveries (expires_at);
