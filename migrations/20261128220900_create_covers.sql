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

COMMENT ON TABLE covers IS 'The covers of books. The files are in the object store, written before the row and removed after it.';
COMMENT ON COLUMN covers.tenant_id IS 'The tenant of the user, whose storage the cover uses.';
COMMENT ON COLUMN covers.version IS 'Names the files. The first 16 digits depend only on the image.';
COMMENT ON COLUMN covers.width IS 'The width of the full size in pixels.';
COMMENT ON COLUMN covers.height IS 'The height of the full size in pixels.';
COMMENT ON COLUMN covers.dominant_color IS 'A color of CSS, such as #A1B2C3.';
COMMENT ON COLUMN covers.blur_hash IS 'A placeholder in the format of https://blurha.sh.';
COMMENT ON COLUMN covers.byte_counts IS 'The sizes of three files: thumbnail, full size, large size.';
COMMENT ON COLUMN covers.hashes IS 'The SHA-256 hashes of the same files.';

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

COMMENT ON TABLE removed_covers IS 'Versions that no row uses any more, until their files are removed.';
COMMENT ON COLUMN removed_covers.kept_until IS
    'Null for a version that a row used. A version that was found without a row is kept until this time.';

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

COMMENT ON TABLE moving_covers IS 'Covers of guests whose libraries were merged into accounts, until a job has copied the files.';
COMMENT ON COLUMN moving_covers.book_id IS 'The book of the account that gets the cover.';
COMMENT ON COLUMN moving_covers.guest_book_id IS 'The book of the guest, by which the files are found.';
COMMENT ON COLUMN moving_covers.cover IS 'The guest''s row of `covers`.';

-- The bytes and the number of covers of each tenant. They are split into 16 parts, so that concurrent uploads of one
-- tenant rarely wait for the same row.
CREATE TABLE tenant_storage (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    part smallint NOT NULL,
    bytes bigint NOT NULL,
    covers bigint NOT NULL,
    PRIMARY KEY (tenant_id, part)
);

COMMENT ON TABLE tenant_storage IS
    'The storage that the covers of each tenant use, in 16 parts, so that uploads rarely wait for one another.';
COMMENT ON COLUMN tenant_storage.part IS 'From 0 to 15. The storage of a tenant is the sum of its parts.';
COMMENT ON COLUMN tenant_storage.covers IS 'The number of covers.';

-- The versions of images that servers are writing to a bucket, which has no file locks. Rows live for seconds.
CREATE TABLE object_writes (
    -- The path of the version in the bucket: BUCKET/FOLDER/NAME.VERSION.
    version text PRIMARY KEY,
    -- When the process that writes the version has died.
    expires_at timestamptz NOT NULL
);
ALTER TABLE object_writes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE object_writes IS 'Versions of images that servers are writing to a bucket. Rows exist for seconds.';
COMMENT ON COLUMN object_writes.version IS 'The path in the bucket: BUCKET/FOLDER/NAME.VERSION.';
COMMENT ON COLUMN object_writes.expires_at IS 'When the writing process is considered dead.';
