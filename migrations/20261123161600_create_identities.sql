-- Why: a guest has no identity, an account can have several, and the library of a guest can move into an account.

-- Whether the apps of a tenant may sign in guests, and how many books the library of a guest may have.
ALTER TABLE tenants
    ADD COLUMN guests boolean NOT NULL DEFAULT false,
    ADD COLUMN guest_books_max int NOT NULL DEFAULT 200 CHECK (guest_books_max BETWEEN 1 AND 1000);

-- A guest is a user without an identity. The first identity makes the guest an account, and the flag is never set again.
ALTER TABLE users
    ALTER COLUMN apple_sub DROP NOT NULL,
    ADD COLUMN is_guest boolean NOT NULL DEFAULT false;
-- The counts of guests, and the search for inactive ones.
CREATE INDEX users_guests ON users (tenant_id, created_at)
    WHERE is_guest;

-- The identities with which users sign in. Replaces users.apple_sub, which is the subject that created the account, or null after it was unlinked: servers of
-- the previous version find accounts by it during an update.
CREATE TABLE identities (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    tenant_id uuid NOT NULL REFERENCES tenants,
    -- The subject of the identity token. If the provider is not Apple, it starts with the issuer and U+001F.
    subject text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id)
);
CREATE UNIQUE INDEX identities_subject ON identities (tenant_id, subject);
INSERT INTO identities (user_id, tenant_id, subject, created_at)
SELECT id, tenant_id, apple_sub, created_at
FROM users;
ALTER TABLE identities ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- Covers of guests whose libraries were merged into accounts. A job copies the files and gives the covers to the books of the
-- accounts. Until then, the files of the guest stay in the object store.
CREATE TABLE moving_covers (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    book_id uuid NOT NULL,
    guest_id uuid NOT NULL,
    guest_book_id uuid NOT NULL,
    -- The guest's row of `covers`.
    cover jsonb NOT NULL,
    PRIMARY KEY (user_id, book_id, guest_id)
);
ALTER TABLE moving_covers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX moving_covers_of_guest ON moving_covers (guest_id);
