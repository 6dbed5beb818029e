-- Why: scripts and integrations need tokens for parts of the GraphQL API, some of them for a few documents only.

ALTER TYPE access_scope ADD VALUE 'LIBRARY_READ';
ALTER TYPE access_scope ADD VALUE 'LIBRARY_WRITE';
ALTER TYPE access_scope ADD VALUE 'FEED';
ALTER TYPE access_scope ADD VALUE 'ACCOUNT';

-- The SHA-256 hashes of the trusted documents that the token may run, sorted. Null for a token that is not bound to documents.
-- Not the ids, because the text of an id can change.
ALTER TABLE access_tokens
    ADD COLUMN documents text[]
        CONSTRAINT access_tokens_documents_check CHECK (cardinality(documents) BETWEEN 1 AND 100);
