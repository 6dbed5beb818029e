-- Why: books have covers, whose files are in the object store and whose metadata, storage use, and removal are here.

CREATE TYPE cover_source AS ENUM ('MANUAL_UPLOAD', 'URL', 'OPEN_LIBRARY', 'GOOGLE_BOOKS', 'WEB_SEARCH');

-- A row names the version whose files are in the store. The files are written before the row and removed after it.
CREATE TABLE covers (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    book_id uuid NOT NULL,
    tenant_id uuid NOT NULL REFERENCES tenants,
    -- The first 16 digits depend on the image only, so they are equal for the same image.
    version text NOT NULL CHECK (version ~ '^[0-9a-f]{32}$'),
    source cover_source NOT NULL,
    -- The full size in pixels.
    width int NOT NULL CHECK (width > 0),
    height int NOT NULL CHECK (height > 0),
    dominant_color text NOT NULL CHECK (dominant_color ~ '^#[0-9A-F]{6}$'),
    blur_hash text NOT NULL,
    -- The sizes and the SHA-256 hashes of three files: thumbnail, full size, large size.
    byte_counts int[] NOT NULL CHECK (array_length(byte_counts, 1) = 3),
    hashes bytea[] NOT NULL CHECK (array_length(hashes, 1) = 3),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, book_id),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE covers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- Versions that no row of `covers` names any more and none may name again, until their files are removed.
CREATE TABLE removed_covers (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    book_id uuid NOT NULL,
    version text NOT NULL,
    -- Null for a version that a row named: the row here can be deleted with the files. A version that a sweep found
    -- without a row is kept until this time, because a transaction whose server crashed may still try to name it.
    kept_until timestamptz,
    PRIMARY KEY (user_id, book_id, version)
);
ALTER TABLE removed_covers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- The bytes and the number of covers of each tenant. They are split into 16 parts, so that concurrent uploads of one
-- tenant rarely wait for the same row.
CREATE TABLE tenant_storage (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    part smallint NOT NULL,
    bytes bigint NOT NULL,
    covers bigint NOT NULL,
    PRIMARY KEY (tenant_id, part)
);

-- The id of this installation: one row. The object store contains the same id, so that `storage gc` never compares a
-- store with another installation's database.
CREATE TABLE installation (
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only)
);
INSERT INTO installation DEFAULT VALUES;
