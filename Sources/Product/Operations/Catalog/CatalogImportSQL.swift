/// The statements of an import, in the order in which they run. They share one transaction with temporary tables.
extension CatalogImport {
    static let createStaging = """
        CREATE TEMPORARY TABLE staged (
            line int PRIMARY KEY,
            title text,
            subtitle text,
            series text,
            series_position text,
            authors text[],
            author_roles author_role[],
            isbn13 text,
            publisher text,
            published_date text,
            language text,
            page_count int,
            subjects text[],
            genres text[],
            description text,
            hook text,
            average_rating float8,
            ratings_count int,
            edition_id uuid,
            is_new boolean NOT NULL DEFAULT false
        ) ON COMMIT DROP;
        CREATE TEMPORARY TABLE staged_sources (
            line int,
            source text,
            key text
        ) ON COMMIT DROP;
        CREATE TEMPORARY TABLE staged_work_keys (
            line int,
            source text,
            key text
        ) ON COMMIT DROP;
        CREATE TEMPORARY TABLE staged_bios (
            line int,
            name text,
            bio text
        ) ON COMMIT DROP
        """

    /// Authors and subjects are lists joined by U+001F, because PostgreSQL has no arrays of arrays of different lengths.
    static let stageRecords = """
        INSERT INTO staged (
            line, title, subtitle, series, series_position, authors, author_roles, isbn13, publisher,
            published_date, language, page_count, subjects, genres, description, hook,
            average_rating, ratings_count
        )
        SELECT
            line, title, subtitle, series, series_position,
            array_remove(string_to_array(authors, E'\\x1f'), ''),
            string_to_array(author_roles, E'\\x1f')::author_role[],
            isbn13, publisher, published_date, language, page_count,
            split.subjects, canonical_genres(split.subjects),
            description, hook, average_rating, ratings_count
        FROM unnest(
            $1::int[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::int[], $12::text[], $13::text[], $14::text[],
            $15::float8[], $16::int[], $17::text[]
        ) AS r (
            line, title, subtitle, series, series_position, authors, isbn13, publisher,
            published_date, language, page_count, subjects, description, hook, average_rating,
            ratings_count, author_roles
        )
        CROSS JOIN LATERAL (
            SELECT array_remove(string_to_array(r.subjects, E'\\x1f'), '') AS subjects
        ) AS split
        """

    static let stageSources = """
        INSERT INTO staged_sources
        SELECT * FROM unnest($1::int[], $2::text[], $3::text[])
        """

    static let stageWorkKeys = """
        INSERT INTO staged_work_keys
        SELECT * FROM unnest($1::int[], $2::text[], $3::text[])
        """

    static let stageBios = """
        INSERT INTO staged_bios
        SELECT * FROM unnest($1::int[], $2::text[], $3::text[])
        """

    /// Saves the biographies of the file; like other data of the file, they replace those of the catalog.
    static let saveBios = """
        INSERT INTO authors AS a (id, name, bio)
        SELECT DISTINCT ON (author_id(b.name)) author_id(b.name), b.name, b.bio
        FROM staged_bios b
        JOIN staged USING (line)
        ORDER BY 1, b.line
        ON CONFLICT (id) DO UPDATE
        SET bio = excluded.bio, updated_at = excluded.updated_at
        WHERE a.bio IS DISTINCT FROM excluded.bio
        """

    /// Matches the staged records with existing editions, by ISBN or else by an external id.
    ///
    /// The ISBN has priority because several editions can share an external id: Wikidata's ids are ids of works. A
    /// record that has neither gets a hash of its title and authors as an external id.
    static let findEditions = """
        CREATE INDEX ON staged_sources (line);
        ANALYZE staged, staged_sources;

        INSERT INTO staged_sources
        SELECT line, 'words', md5(search_fold(concat_ws(' ', title, array_to_string(authors, ' '))))
        FROM staged r
        WHERE isbn13 IS NULL
            AND NOT EXISTS (SELECT FROM staged_sources t WHERE t.line = r.line);

        UPDATE staged
        SET edition_id = e.id
        FROM editions e
        WHERE e.isbn13 = staged.isbn13;

        UPDATE staged
        SET edition_id = found.edition_id
        FROM (
            SELECT DISTINCT ON (t.line) t.line, s.edition_id
            FROM staged_sources t
            JOIN edition_sources s USING (source, key)
            JOIN editions e ON e.id = s.edition_id
            JOIN staged r ON r.line = t.line
            -- Two different ISBNs are two editions, even if they share an external id.
            WHERE e.isbn13 IS NULL OR r.isbn13 IS NULL
            ORDER BY t.line, t.source
        ) found
        WHERE found.line = staged.line AND staged.edition_id IS NULL
        """

    /// Removes records that repeat an earlier record. Returns their line numbers, and those of the earlier records.
    static let removeDuplicates = """
        WITH ranked AS (
            SELECT
                line,
                first_value(line) OVER (
                    PARTITION BY coalesce(
                        edition_id::text,
                        isbn13,
                        (
                            SELECT t.key
                            FROM staged_sources t
                            WHERE t.line = staged.line AND t.source = 'words'
                        ),
                        'line ' || line
                    )
                    ORDER BY line
                ) AS first
            FROM staged
        )
        DELETE FROM staged
        USING ranked
        WHERE staged.line = ranked.line AND ranked.first <> ranked.line
        RETURNING staged.line, ranked.first
        """

    /// Counts the records, and those of new editions.
    static let countStaged = "SELECT count(*), count(*) - count(edition_id) FROM staged"

    /// The ISBN of an updated edition. A request may have added an edition with the ISBN since `findEditions`.
    private static let newISBN = """
        CASE
            WHEN e.isbn13 IS NULL AND NOT EXISTS (SELECT FROM editions o WHERE o.isbn13 = s.isbn13) THEN s.isbn13
            ELSE e.isbn13
        END
        """

    /// Updates existing editions. Data that the file does not contain stays unchanged, and so do editions without
    /// changes.
    static let updateEditions = """
        UPDATE editions e
        SET
            title = s.title,
            subtitle = coalesce(s.subtitle, e.subtitle),
            series = coalesce(s.series, e.series),
            series_position = coalesce(s.series_position, e.series_position),
            authors = CASE WHEN s.authors = '{}' THEN e.authors ELSE s.authors END,
            author_roles = CASE WHEN s.authors = '{}' THEN e.author_roles ELSE s.author_roles END,
            isbn13 = \(newISBN),
            publisher = coalesce(s.publisher, e.publisher),
            published_date = coalesce(s.published_date, e.published_date),
            language = coalesce(s.language, e.language),
            page_count = coalesce(s.page_count, e.page_count),
            subjects = CASE WHEN s.subjects = '{}' THEN e.subjects ELSE s.subjects END,
            genres = CASE WHEN s.subjects = '{}' THEN e.genres ELSE s.genres END,
            description = coalesce(s.description, e.description),
            hook = coalesce(s.hook, e.hook),
            average_rating = coalesce(s.average_rating, e.average_rating),
            ratings_count = greatest(s.ratings_count, e.ratings_count),
            popularity = e.popularity + greatest(s.ratings_count, e.ratings_count) - e.ratings_count,
            updated_at = now()
        FROM staged s
        WHERE e.id = s.edition_id
            AND (
                e.title,
                coalesce(s.subtitle, e.subtitle),
                coalesce(s.series, e.series),
                coalesce(s.series_position, e.series_position),
                CASE WHEN s.authors = '{}' THEN e.authors ELSE s.authors END,
                CASE WHEN s.authors = '{}' THEN e.author_roles ELSE s.author_roles END,
                \(newISBN),
                coalesce(s.publisher, e.publisher),
                coalesce(s.published_date, e.published_date),
                coalesce(s.language, e.language),
                coalesce(s.page_count, e.page_count),
                CASE WHEN s.subjects = '{}' THEN e.subjects ELSE s.subjects END,
                CASE WHEN s.subjects = '{}' THEN e.genres ELSE s.genres END,
                coalesce(s.description, e.description),
                coalesce(s.hook, e.hook),
                coalesce(s.average_rating, e.average_rating),
                greatest(s.ratings_count, e.ratings_count)
            ) IS DISTINCT FROM (
                s.title,
                e.subtitle,
                e.series,
                e.series_position,
                e.authors,
                e.author_roles,
                e.isbn13,
                e.publisher,
                e.published_date,
                e.language,
                e.page_count,
                e.subjects,
                e.genres,
                e.description,
                e.hook,
                e.average_rating,
                e.ratings_count
            )
        """

    /// Adds new editions, except those whose ISBN a request has added since `findEditions`.
    static let insertEditions = """
        WITH new_records AS (
            UPDATE staged
            SET edition_id = gen_random_uuid(), is_new = true
            WHERE edition_id IS NULL
            RETURNING *
        )
        INSERT INTO editions (
            id, isbn13, title, subtitle, series, series_position, authors, author_roles, publisher,
            published_date, language, page_count, subjects, genres, description, hook,
            average_rating, ratings_count, popularity
        )
        SELECT
            edition_id, isbn13, title, subtitle, series, series_position, authors, author_roles, publisher,
            published_date, language, page_count, subjects, genres, description, hook,
            average_rating, ratings_count, ratings_count
        FROM new_records
        ON CONFLICT (isbn13) DO NOTHING
        """

    /// Matches the records that `insertEditions` did not add with the editions that have their ISBNs.
    static let findAddedEditions = """
        UPDATE staged
        SET edition_id = e.id, is_new = false
        FROM editions e
        WHERE staged.is_new AND e.isbn13 = staged.isbn13 AND e.id <> staged.edition_id
        """

    static let insertSources = """
        INSERT INTO edition_sources (source, key, edition_id)
        SELECT t.source, t.key, s.edition_id
        FROM staged_sources t
        JOIN staged s USING (line)
        ON CONFLICT DO NOTHING
        """

    /// Saves what the file says about works. It replaces what the same source has said before.
    static let saveWorkKeys = """
        SELECT save_work_keys(array_agg(s.edition_id), array_agg(k.source), array_agg(k.key))
        FROM staged_work_keys k
        JOIN staged s USING (line)
        """
}
