-- Why: e-readers report how far a reader is, in files that they identify by a hash, and ask where another device has stopped.

-- The files that KOReader has reported, with their last position.
CREATE TABLE ereader_documents (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    -- What the e-reader calls the file: usually the MD5 of parts of its content, or of its name.
    hash text COLLATE "C" NOT NULL CHECK (hash ~ '^[A-Za-z0-9_]{1,128}$'),
    -- The book that the reader has linked. Not a foreign key: the link of a deleted book works again when the book is restored.
    book_id uuid,
    -- Sent only by e-readers whose owner allows it.
    title text CHECK (char_length(title) BETWEEN 1 AND 500),
    author text CHECK (char_length(author) BETWEEN 1 AND 500),
    -- The place in the file, in the e-reader's own notation.
    progress text NOT NULL CHECK (char_length(progress) <= 4000),
    fraction float8 NOT NULL CHECK (fraction BETWEEN 0 AND 1),
    device_name text NOT NULL CHECK (char_length(device_name) <= 200),
    device_id text CHECK (char_length(device_id) <= 200),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- The time of the last position, by the clock of the server.
    synced_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    UNIQUE (user_id, hash)
);
ALTER TABLE ereader_documents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE INDEX ereader_documents_synced ON ereader_documents (user_id, synced_at, id);

-- The last position in each book that an e-reader has reported, as a document of OPDS Progression.
CREATE TABLE ereader_positions (
    user_id uuid NOT NULL,
    book_id uuid NOT NULL,
    -- By the clock of the device with OPDS Progression, and of the server with KOReader.
    modified_at timestamptz NOT NULL,
    fraction float8 NOT NULL CHECK (fraction BETWEEN 0 AND 1),
    -- A URI.
    device_id text NOT NULL CHECK (char_length(device_id) <= 500),
    device_name text NOT NULL CHECK (char_length(device_name) <= 200),
    title text CHECK (char_length(title) <= 500),
    -- Places inside the publication. Null if the device has sent none.
    place_refs text[],
    -- The progress entry that the device has written last, and the time of the first position in it.
    entry_id uuid,
    entry_began_at timestamptz,
    PRIMARY KEY (user_id, book_id),
    FOREIGN KEY (user_id, book_id) REFERENCES books ON DELETE CASCADE
);
ALTER TABLE ereader_positions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
