-- Why: the meaning of tables and columns can be read in the database, with \d+ of psql and in tools for databases.
-- same-transaction

-- MARK: Tenants, accounts, and sessions

COMMENT ON TABLE tenants IS 'The apps that share this installation. Each one has its own users.';
COMMENT ON COLUMN tenants.slug IS 'The name in commands, such as `tenant update SLUG`.';
COMMENT ON COLUMN tenants.issuers IS 'The accepted issuers of identity tokens. Empty for those of the server''s configuration.';
COMMENT ON COLUMN tenants.audiences IS 'The accepted audiences of identity tokens: bundle IDs and client IDs.';
COMMENT ON COLUMN tenants.amazon_tag IS 'The tag of Amazon''s affiliate program in links to the shop.';
COMMENT ON COLUMN tenants.bookshop_id IS 'The affiliate ID in links to bookshop.org.';
COMMENT ON COLUMN tenants.storage_bytes_max IS 'The maximum number of bytes of all covers of the tenant; null for no limit.';
COMMENT ON COLUMN tenants.user_storage_bytes_max IS 'The maximum number of bytes of the covers of one user; null for no limit.';
COMMENT ON COLUMN tenants.requests_per_minute IS 'The rate limit of the tenant; null for that of the server''s configuration.';
COMMENT ON COLUMN tenants.half_stars IS 'Whether readers may rate books in half stars.';
COMMENT ON COLUMN tenants.guests IS 'Whether apps may sign in guests.';
COMMENT ON COLUMN tenants.guest_books_max IS 'The maximum number of books of a guest.';
COMMENT ON COLUMN tenants.oauth IS 'Whether apps of other developers may ask readers for access by OAuth.';
COMMENT ON COLUMN tenants.oauth_registration IS 'Whether apps of other developers may register themselves.';
COMMENT ON COLUMN tenants.mcp IS 'Whether trusted documents are offered as tools of the Model Context Protocol.';

COMMENT ON TABLE identity_providers IS
    'The OpenID Connect providers of tenants, in addition to those of the server''s configuration.';
COMMENT ON COLUMN identity_providers.name IS 'The name by which apps choose the provider. Unique for each tenant.';
COMMENT ON COLUMN identity_providers.audiences IS 'The accepted client IDs. Empty for the audiences of the tenant.';
COMMENT ON COLUMN identity_providers.jwks_url IS
    'The address of the keys; null if the discovery document of the issuer contains it.';

COMMENT ON TABLE users IS 'Accounts and guests. A user belongs to one tenant.';
COMMENT ON COLUMN users.apple_sub IS
    'The subject of the identity that created the account, with any provider; null for guests, and after the identity was '
    'unlinked. The table `identities` replaces it: only servers of an earlier release read it, during an upgrade.';
COMMENT ON COLUMN users.email_disabled IS
    'Whether Apple has reported that mail to the relay address is switched off. The address is not shown then.';
COMMENT ON COLUMN users.preferred_genres IS 'The names of genres, in the order of the reader.';
COMMENT ON COLUMN users.time_zone IS 'A name of the IANA time zone database, which decides when the reader''s day begins.';
COMMENT ON COLUMN users.signals_version IS
    'The number of changes of swipes, books, reviews, and preferred genres from which the feed learns.';
COMMENT ON COLUMN users.is_guest IS 'Whether the user has no identity. Adding the first identity ends this for good.';

COMMENT ON TABLE identities IS 'The identities with which users sign in. An account has one or more, and a guest has none.';
COMMENT ON COLUMN identities.tenant_id IS 'The tenant of the user. A copy, because subjects are unique for each tenant.';
COMMENT ON COLUMN identities.subject IS
    'The subject of the identity token. If the provider is not Apple, the issuer and U+001F precede it.';

COMMENT ON TABLE sessions IS 'Sign-ins. Each one has a refresh token.';
COMMENT ON COLUMN sessions.generation IS 'How often the refresh token was rotated.';
COMMENT ON COLUMN sessions.refresh_hash IS 'A hash of the secret of the refresh token. The secret is not stored.';
COMMENT ON COLUMN sessions.device_name IS 'The name that the app gave the device, for the reader''s list of sessions.';
COMMENT ON COLUMN sessions.rotated_at IS
    'When the refresh token was last rotated, which is also the last known use of the session.';
COMMENT ON COLUMN sessions.revoked_at IS 'When the session was ended; null if it was not.';

COMMENT ON TABLE identity_token_uses IS
    'Identity tokens that have opened a session. A token is accepted once, by all servers together, also after its account '
    'was deleted.';
COMMENT ON COLUMN identity_token_uses.token_hash IS 'SHA-256 of the signed part of the token.';
COMMENT ON COLUMN identity_token_uses.expires_at IS 'When the token expires. The row is not needed after that.';

COMMENT ON TABLE apple_grants IS 'Apple''s refresh tokens of users, which are revoked when the account is deleted.';
COMMENT ON COLUMN apple_grants.client_id IS 'The app that has received the token. Only this app can revoke it.';
COMMENT ON COLUMN apple_grants.sealed_token IS 'The token, encrypted with the sealing key of the installation.';

COMMENT ON TABLE apple_notifications IS
    'The server-to-server notifications of Apple that were processed. Apple repeats notifications.';
COMMENT ON COLUMN apple_notifications.id_hash IS 'SHA-256 of the notification''s issuer and `jti`.';
COMMENT ON COLUMN apple_notifications.expires_at IS 'When the notification expires. The row is not needed after that.';

COMMENT ON TABLE account_tombstones IS 'Deleted accounts, without personal data.';
COMMENT ON COLUMN account_tombstones.user_hash IS 'SHA-256 of the user''s id.';
COMMENT ON COLUMN account_tombstones.session_hash IS
    'SHA-256 of the id of the session that requested the deletion, which can repeat the request for an hour. Null after that.';
COMMENT ON COLUMN account_tombstones.books IS 'The number of books that were deleted, as in the next two columns.';
COMMENT ON COLUMN account_tombstones.apple_token_revoked IS 'Whether the grant at Apple was revoked; null until this is known.';

COMMENT ON TABLE moving_covers IS 'Covers of guests whose libraries were merged into accounts, until a job has copied the files.';
COMMENT ON COLUMN moving_covers.book_id IS 'The book of the account that gets the cover.';
COMMENT ON COLUMN moving_covers.guest_book_id IS 'The book of the guest, by which the files are found.';
COMMENT ON COLUMN moving_covers.cover IS 'The guest''s row of `covers`.';

-- MARK: Access tokens and OAuth

COMMENT ON TABLE access_tokens IS
    'Personal access tokens, and the access tokens of apps of other developers. Deleting a row revokes the token.';
COMMENT ON COLUMN access_tokens.token_hash IS 'SHA-256 of the token. The token is not stored.';
COMMENT ON COLUMN access_tokens.kosync_hash IS
    'SHA-256 of `kosync:` and the MD5 of the token in hexadecimal, which KOReader sends in place of the token. Null for apps,'
    ' and if the server had no MD5.';
COMMENT ON COLUMN access_tokens.seed IS
    'With this and the key of the installation, the server calculates the token again if the response of its creation was '
    'lost. Empty for the tokens of apps.';
COMMENT ON COLUMN access_tokens.last_characters IS 'The last characters of the token, by which the reader recognizes it.';
COMMENT ON COLUMN access_tokens.expires_at IS 'Null for a token that does not expire.';
COMMENT ON COLUMN access_tokens.last_used_at IS 'Updated at most every ten minutes.';
COMMENT ON COLUMN access_tokens.documents IS
    'The SHA-256 hashes of the trusted documents that the token may run, in hexadecimal and sorted. Null for all documents.';
COMMENT ON COLUMN access_tokens.grant_id IS 'The grant of the app (`oauth_grants`). Null for a personal access token.';

COMMENT ON TABLE oauth_clients IS 'Apps of other developers, which use OAuth.';
COMMENT ON COLUMN oauth_clients.redirect_uris IS 'Empty for an app that uses only the device grant.';
COMMENT ON COLUMN oauth_clients.scopes IS 'The scopes for which the app may ask.';
COMMENT ON COLUMN oauth_clients.secret_hash IS 'SHA-256 of the client secret. Null for a public client, which has no secret.';
COMMENT ON COLUMN oauth_clients.is_self_registered IS
    'Whether the app has registered itself, so that the operator has not checked its name.';

COMMENT ON TABLE oauth_grants IS 'The access that readers have allowed to apps. Deleting a row ends the access.';
COMMENT ON COLUMN oauth_grants.refresh_hash IS 'A hash of the secret of the current refresh token.';
COMMENT ON COLUMN oauth_grants.generation IS 'How often the refresh token was rotated.';
COMMENT ON COLUMN oauth_grants.last_used_at IS 'Updated at most every ten minutes.';

COMMENT ON TABLE oauth_requests IS
    'Requests of apps that wait for the decision of a reader, and those that were decided a short time ago.';
COMMENT ON COLUMN oauth_requests.user_code IS 'Eight letters, which the reader enters in the app of the tenant.';
COMMENT ON COLUMN oauth_requests.scopes IS 'The requested scopes, and after the decision the allowed ones.';
COMMENT ON COLUMN oauth_requests.redirect_uri IS
    'Only of the authorization code grant, like `state`, `code_challenge`, and `browser_hash`.';
COMMENT ON COLUMN oauth_requests.code_challenge IS 'The challenge of PKCE, by the method S256.';
COMMENT ON COLUMN oauth_requests.browser_hash IS 'SHA-256 of the cookie that ties the request to a browser.';
COMMENT ON COLUMN oauth_requests.device_hash IS
    'SHA-256 of the device code. Only of the device grant, like `polled_at` and `interval_seconds`.';
COMMENT ON COLUMN oauth_requests.polled_at IS 'When the device last asked for the result.';
COMMENT ON COLUMN oauth_requests.interval_seconds IS 'The minimum time between two requests of the device.';
COMMENT ON COLUMN oauth_requests.user_id IS 'The reader who has decided; null before the decision.';
COMMENT ON COLUMN oauth_requests.code_hash IS 'SHA-256 of the authorization code; null if none was issued.';
COMMENT ON COLUMN oauth_requests.grant_id IS
    'The grant that was created. The row is kept for a while after that, to recognize a code that is used twice.';

-- MARK: Jobs

COMMENT ON TABLE jobs IS 'Background jobs that are not done. Finishing a job deletes its row.';
COMMENT ON COLUMN jobs.user_id IS
    'The user whose rows the job may read and write, and with whom it is deleted. Null for work of the installation.';
COMMENT ON COLUMN jobs.kind IS 'The kind of work, such as `cover.fetch`. It selects the handler.';
COMMENT ON COLUMN jobs.key IS
    'Identifies the work: at most one job of a user, kind, and key is ready or running. Null for jobs that are never '
    'combined.';
COMMENT ON COLUMN jobs.state IS
    'READY: the job waits until `run_at`. RUNNING: a worker holds the lease. DEAD: the job has failed for good.';
COMMENT ON COLUMN jobs.priority IS '0 for work that a user waits for. Jobs with higher numbers run later.';
COMMENT ON COLUMN jobs.attempts IS 'The number of attempts since the job was last enqueued. Postponed runs do not count.';
COMMENT ON COLUMN jobs.fence IS
    'The fencing token. Each claim increments it, and only the worker with the current number can write for the job or finish'
    ' it.';
COMMENT ON COLUMN jobs.worker IS 'The name of the worker that holds the lease.';
COMMENT ON COLUMN jobs.again IS 'Whether the job was enqueued again while it was running, so it runs once more.';
COMMENT ON COLUMN jobs.every IS 'The interval of a recurring job; null for other jobs.';
COMMENT ON COLUMN jobs.postponed_since IS 'When the job was first postponed because its sources were paused; null if it was not.';

-- MARK: The catalog

COMMENT ON TABLE editions IS 'The catalog, which all tenants share. An edition is also a record of a work.';
COMMENT ON COLUMN editions.number IS
    'A short number of at most 32 bits, for positions in the feed and for learning similar editions.';
COMMENT ON COLUMN editions.series_position IS 'The position in the series as a text, such as 1, 2.5, or 1-3.';
COMMENT ON COLUMN editions.authors IS 'The names of all contributors, the main author first.';
COMMENT ON COLUMN editions.author_roles IS 'The role at the position of each name. Names after the last role are authors.';
COMMENT ON COLUMN editions.published_date IS 'A year, a month, or a day, as the source wrote it.';
COMMENT ON COLUMN editions.language IS 'A BCP 47 tag, such as en or pt-BR.';
COMMENT ON COLUMN editions.genres IS 'The names of the canonical genres, computed from `subjects`.';
COMMENT ON COLUMN editions.subjects IS 'The genres and subjects in the words of sources and files.';
COMMENT ON COLUMN editions.hook IS 'The beginning of the description, for cards.';
COMMENT ON COLUMN editions.average_rating IS 'From 0 to 5 stars.';
COMMENT ON COLUMN editions.popularity IS
    'The number of ratings plus the weighted positive signals of readers (`refresh_popularity`).';
COMMENT ON COLUMN editions.sources_requested_at IS 'When missing data was last requested from external sources; null if never.';
COMMENT ON COLUMN editions.cover_links IS
    'Addresses of covers, the most likely one first. The name of the source and a space precede each address.';
COMMENT ON COLUMN editions.cover_version IS 'The version of the stored cover; null without a cover.';
COMMENT ON COLUMN editions.cover_width IS 'The width of the full size in pixels.';
COMMENT ON COLUMN editions.cover_height IS 'The height of the full size in pixels.';
COMMENT ON COLUMN editions.cover_dominant_color IS 'A color of CSS, such as #A1B2C3.';
COMMENT ON COLUMN editions.cover_blur_hash IS 'A placeholder in the format of https://blurha.sh.';
COMMENT ON COLUMN editions.cover_due_at IS 'When a missing cover may be requested.';
COMMENT ON COLUMN editions.cover_failures IS 'The number of failed requests for the cover since a source answered, modulo 8.';
COMMENT ON COLUMN editions.search_text IS 'All searched columns in the form of `search_fold`, for comparisons letter by letter.';
COMMENT ON COLUMN editions.search_vector IS 'The words of the full-text index.';
COMMENT ON COLUMN editions.author_ids IS 'The ids that `author_id` computes from the names, in the same order.';
COMMENT ON COLUMN editions.series_id IS 'The id that `series_id` computes from the name of the series.';
COMMENT ON COLUMN editions.first_author_hash IS
    'A hash of the first author, 0 without one. The feed uses it to vary its cards, and to find other books of liked authors.';
COMMENT ON COLUMN editions.series_hash IS 'A hash of the series, 0 without one. The feed uses it like `first_author_hash`.';
COMMENT ON COLUMN editions.title_card_version IS
    'The version of the image that is drawn for an edition without a cover, computed from its text.';

COMMENT ON TABLE edition_sources IS 'The ids of editions at external sources. An id belongs to one edition.';
COMMENT ON COLUMN edition_sources.source IS
    'The name of the source, such as `open_library`. `words` is the source of ids that are hashes of the title and the '
    'authors.';
COMMENT ON COLUMN edition_sources.key IS 'The id at the source.';

COMMENT ON TABLE edition_work_keys IS
    'The ids of works at external sources. Editions with the same source and key are records of one work.';
COMMENT ON COLUMN edition_work_keys.key IS 'The id of the work at the source.';

COMMENT ON TABLE edition_similar IS 'The editions that readers of an edition probably like, as learned by the job `feed.similar`.';
COMMENT ON COLUMN edition_similar.rank IS 'From 1, the best one first.';
COMMENT ON COLUMN edition_similar.score IS 'Negative if readers of the edition probably dislike the other one.';

COMMENT ON TABLE edition_genres IS 'The editions of each genre, in the order of the feed.';
COMMENT ON COLUMN edition_genres.genre_id IS '0 for editions without a genre.';
COMMENT ON COLUMN edition_genres.position IS 'The sort key: tier, popularity, and number of the edition (`genre_position`).';
COMMENT ON COLUMN edition_genres.ordinal IS 'The position of the genre in the list of the edition, from 1.';

COMMENT ON TABLE authors IS 'Authors of editions of whom more than the name is known. Authors with the same name share a row.';
COMMENT ON COLUMN authors.id IS 'The id that `author_id` computes from the name.';
COMMENT ON COLUMN authors.open_library_key IS 'The id at Open Library, such as OL26320A.';
COMMENT ON COLUMN authors.bio IS 'A short text about the person.';
COMMENT ON COLUMN authors.bio_requested_at IS 'When a source was last asked for the text; null if never.';

COMMENT ON TABLE genres IS 'The canonical genres. Their ids and slugs never change.';
COMMENT ON COLUMN genres.slug IS 'The id in the GraphQL schema.';
COMMENT ON COLUMN genres.is_general IS 'Whether the genre applies only to editions without a more specific one.';
COMMENT ON COLUMN genres.editions IS 'The number of editions, as of the last `count_genres`.';
COMMENT ON COLUMN genres.readers IS 'The number of ratings of these editions, as of the last `count_genres`.';

COMMENT ON TABLE genre_aliases IS 'The names of genres in sources, files, and requests.';
COMMENT ON COLUMN genre_aliases.alias IS 'The name in the form of `search_fold`.';

COMMENT ON TABLE work_decisions IS 'The operator''s decisions that editions are records of one work, or are not.';
COMMENT ON COLUMN work_decisions.undone_at IS 'When the decision was undone, so that it has no effect; null if it was not.';

COMMENT ON TABLE work_decision_editions IS 'The editions to which a decision applies.';

COMMENT ON TABLE work_records IS 'The editions of works that have two or more, as computed by `match_works`.';
COMMENT ON COLUMN work_records.founder_id IS 'The oldest edition of the work. The id of the work is computed from it (`work_id`).';
COMMENT ON COLUMN work_records.rank IS 'The order of the records, from 1. The feed shows only the first one.';

COMMENT ON TABLE removed_editions IS 'Deleted editions of works that have other editions.';
COMMENT ON COLUMN removed_editions.survivor_id IS 'Another edition of the work, to which ids of the deleted one lead.';

COMMENT ON TABLE search_words IS 'The words of the catalog, among which the search finds corrections of misspelled words.';
COMMENT ON COLUMN search_words.editions IS 'The number of editions with the word, as of the last `refresh_search_words`.';
COMMENT ON COLUMN search_words.forms IS 'The word, and the word without each one of its letters (`search_forms`).';

COMMENT ON TABLE source_misses IS 'ISBNs that an external source does not know. It is not asked again before the row expires.';

COMMENT ON TABLE source_searches IS 'Queries that external sources have answered. They are not sent again before the row expires.';

COMMENT ON TABLE source_usage IS
    'The number of requests to external sources on each day, for the daily budgets. It includes requests that a server has '
    'reserved and not used.';
COMMENT ON COLUMN source_usage.source IS
    'The name in BOOKPLATE_SOURCE_BUDGETS, such as `open-library`. Other tables use `open_library`.';
COMMENT ON COLUMN source_usage.day IS 'A day of UTC.';
COMMENT ON COLUMN source_usage.used_in_background IS 'The part of `used` that background work has reserved.';

-- MARK: Libraries

COMMENT ON TABLE shelves IS 'The shelves of a library.';
COMMENT ON COLUMN shelves.position IS 'The order of the shelves, ascending. After a merge or an import, numbers can be missing.';

COMMENT ON TABLE books IS 'The books of libraries. A book is the reader''s copy of an edition, or was written by the reader.';
COMMENT ON COLUMN books.edition_id IS 'The edition of the catalog; null if the catalog does not have it.';
COMMENT ON COLUMN books.linked_by IS
    'How the book got its edition: CARD (chosen by the reader), ISBN, SOURCE (an id of an import), or TITLE. Without a '
    'meaning if the book has no edition.';
COMMENT ON COLUMN books.authors IS 'The names of all contributors, the main author first.';
COMMENT ON COLUMN books.author_roles IS 'The role at the position of each name. Names after the last role are authors.';
COMMENT ON COLUMN books.written_author IS
    'The text in which the reader named several authors; null for one author, or if the names were given as a list.';
COMMENT ON COLUMN books.author IS 'The text for clients that do not use lists of authors. A trigger computes it.';
COMMENT ON COLUMN books.author_ids IS 'The ids that `author_id` computes from the names. A trigger computes them.';
COMMENT ON COLUMN books.publisher IS 'The reader''s copy, like the other facts. Later corrections of the edition do not change it.';
COMMENT ON COLUMN books.published_date IS 'A year, a month, or a day, as it was written.';
COMMENT ON COLUMN books.language IS 'A BCP 47 tag, such as en or pt-BR.';
COMMENT ON COLUMN books.category IS 'A category in the reader''s own words.';
COMMENT ON COLUMN books.genre IS 'A genre in the reader''s own words, or that of the card.';
COMMENT ON COLUMN books.series IS 'The series that the reader has entered. Without it, that of the edition is shown.';
COMMENT ON COLUMN books.series_position IS 'The position in the series as a text, such as 1, 2.5, or 1-3.';
COMMENT ON COLUMN books.series_id IS 'The id that `series_id` computes from the name of the series. A trigger computes it.';
COMMENT ON COLUMN books.current_page IS 'The page of the latest progress, usually at most `page_count`.';
COMMENT ON COLUMN books.binding IS 'The binding or format in the words of the reader or of an import, such as Paperback.';
COMMENT ON COLUMN books.original_year IS 'The year of the first edition. Negative before our era.';
COMMENT ON COLUMN books.moods IS 'The moods of the book in the words of an import.';
COMMENT ON COLUMN books.started_at IS 'When the latest read was started (`reads`).';
COMMENT ON COLUMN books.finished_at IS 'When the latest read was finished (`reads`).';
COMMENT ON COLUMN books.cover_status IS
    'The state of the cover search. READY: the book has a cover. NOT_FOUND: no source has one. FAILED: no source could '
    'answer.';
COMMENT ON COLUMN books.cover_requested_at IS
    'When the running search was requested, which identifies it; null if none is running.';
COMMENT ON COLUMN books.cover_not_found_at IS
    'When the last search ended because no source has a cover; null if it ended for another reason.';
COMMENT ON COLUMN books.is_cover_removed IS
    'Whether the reader has removed the cover. The cover of the edition is not shown then, either.';
COMMENT ON COLUMN books.search_text IS 'All searched columns in the form of `search_fold`. A trigger computes it.';
COMMENT ON COLUMN books.title_card_version IS
    'The version of the image that is drawn for a book without a cover. A trigger computes it.';

COMMENT ON TABLE books_to_link IS 'Books that may match an edition of the catalog now, until a job has looked at them.';

COMMENT ON TABLE shelf_books IS 'The books on shelves.';
COMMENT ON COLUMN shelf_books.added_at IS 'A copy of `books.added_at`, for the order of a shelf.';

COMMENT ON TABLE reviews IS 'The reviews of books, at most one for each book.';
COMMENT ON COLUMN reviews.half_stars IS 'The rating in half stars: 8 is 4 stars. Null for a text without a rating.';
COMMENT ON COLUMN reviews.has_spoilers IS 'Whether the text reveals the plot.';
COMMENT ON COLUMN reviews.is_visible IS
    'Whether the API shows the review, which is the case while the status of the book is READ. Triggers maintain it.';

COMMENT ON TABLE deleted_books IS 'Deleted books, which readers can restore for some time, with the rows of other tables as JSON.';
COMMENT ON COLUMN deleted_books.book IS 'The row of `books`, like the rows of other tables in the following columns.';
COMMENT ON COLUMN deleted_books.cover IS
    'The row of `covers`, whose files stay in the store. Null without a cover, and if the space was needed.';
COMMENT ON COLUMN deleted_books.shelf_ids IS 'The shelves on which the book was.';
COMMENT ON COLUMN deleted_books.reads IS 'An array of rows, as in `progress_entries` and `notes`; null if there are none.';

-- MARK: Reading

COMMENT ON TABLE reads IS 'The times that a reader has read a book.';
COMMENT ON COLUMN reads.started_on IS 'A year, a month, or a day in the time zone that the reader had then.';
COMMENT ON COLUMN reads.finished_on IS
    'The last day, also of a read that was given up. Null for an open read, or if it is not known.';
COMMENT ON COLUMN reads.outcome IS 'READING: the read is open. A book has at most one open read.';
COMMENT ON COLUMN reads.length_seconds IS 'The length of an audiobook.';
COMMENT ON COLUMN reads.page_count IS 'A copy of the column of `books`, for statistics, like `genre`, `author_id`, and `author`.';
COMMENT ON COLUMN reads.sorted_on IS
    'The first part of the order of reads: `finished_on` or `started_on`, or `~` for an open read, which is the last one.';

COMMENT ON TABLE progress_entries IS 'How far a reader was at a time. An entry has one position: a page, a percentage, or seconds.';
COMMENT ON COLUMN progress_entries.at IS 'When the reader was at the position.';
COMMENT ON COLUMN progress_entries.percent IS 'From 0 to 100.';
COMMENT ON COLUMN progress_entries.seconds IS 'The position in an audiobook.';
COMMENT ON COLUMN progress_entries.at_changed_at IS
    'When the device changed `at`; null for the first value. A change that was made earlier and arrives later is ignored.';
COMMENT ON COLUMN progress_entries.position_changed_at IS 'When the device changed the position, as for `at_changed_at`.';
COMMENT ON COLUMN progress_entries.note_changed_at IS 'When the device changed the note, as for `at_changed_at`.';

COMMENT ON TABLE reading_days IS 'The days with progress in the time zone of the reader, for streaks. Triggers maintain it.';
COMMENT ON COLUMN reading_days.entry_count IS 'The number of entries of the day, at least 1.';

COMMENT ON TABLE reading_goals IS 'The goals of readers for years.';
COMMENT ON COLUMN reading_goals.target IS 'The number of books, pages, or hours.';

COMMENT ON TABLE reading_tombstones IS
    'The ids of deleted reads, progress entries, goals, and notes, so that a repeated request does not create them again.';

COMMENT ON TABLE notes IS
    'Quotes from books and thoughts about them. A note has at most one position: a page, a percentage, or seconds.';
COMMENT ON COLUMN notes.text IS 'The words of the book.';
COMMENT ON COLUMN notes.comment IS 'The reader''s own words.';
COMMENT ON COLUMN notes.percent IS 'From 0 to 100.';
COMMENT ON COLUMN notes.seconds IS 'The position in an audiobook.';
COMMENT ON COLUMN notes.created_at IS 'When the reader made the note. An e-reader may send it later.';

COMMENT ON TABLE ereader_documents IS 'The files that KOReader has reported, with the last position in each.';
COMMENT ON COLUMN ereader_documents.hash IS
    'How the e-reader identifies the file: usually the MD5 of parts of its content, or of its name.';
COMMENT ON COLUMN ereader_documents.book_id IS
    'The book that the reader has linked. Not a foreign key: the link works again when a deleted book is restored.';
COMMENT ON COLUMN ereader_documents.title IS 'Null if the settings of the e-reader do not send it.';
COMMENT ON COLUMN ereader_documents.progress IS 'The position in the file, in the notation of the e-reader.';
COMMENT ON COLUMN ereader_documents.fraction IS 'The position from 0 to 1.';
COMMENT ON COLUMN ereader_documents.synced_at IS 'When the last position arrived, by the clock of the server.';

COMMENT ON TABLE ereader_positions IS 'The last position in each book, in the terms of OPDS Progression.';
COMMENT ON COLUMN ereader_positions.modified_at IS
    'The time of the position, by the clock of the device; by that of the server for KOReader.';
COMMENT ON COLUMN ereader_positions.fraction IS 'The position from 0 to 1.';
COMMENT ON COLUMN ereader_positions.device_id IS 'A URI.';
COMMENT ON COLUMN ereader_positions.place_refs IS
    'References to positions inside the publication (`references` in OPDS Progression), such as URIs with fragments. Null if '
    'the device has sent none.';
COMMENT ON COLUMN ereader_positions.entry_id IS
    'The progress entry that the device has written last. Positions of the next 15 minutes change this entry instead of '
    'adding others.';
COMMENT ON COLUMN ereader_positions.entry_began_at IS 'The time of the first position in that entry.';

-- MARK: Imports

COMMENT ON TABLE imports IS 'Imports of libraries from files of other services.';
COMMENT ON COLUMN imports.content IS 'The file; null after the import has ended.';
COMMENT ON COLUMN imports.content_hash IS 'SHA-256 of the file.';
COMMENT ON COLUMN imports.total IS 'The number of records; null until they were counted.';
COMMENT ON COLUMN imports.done IS 'The number of processed records.';
COMMENT ON COLUMN imports.created IS 'The number of books that were created.';
COMMENT ON COLUMN imports.updated IS 'The number of books that were changed.';
COMMENT ON COLUMN imports.ignored_columns IS 'The columns of the file whose data is not kept.';
COMMENT ON COLUMN imports.book_ids IS 'The ids of books in the library, by their ids in the file, if these differ.';

COMMENT ON TABLE import_failures IS 'Records and fields of files that could not be imported.';
COMMENT ON COLUMN import_failures.line IS 'The line of the file, from 1; 0 for a failure of the whole import.';
COMMENT ON COLUMN import_failures.position IS 'Distinguishes the failures of a line.';
COMMENT ON COLUMN import_failures.field IS 'The column that was left out; null if the whole record was.';

-- MARK: Changes and events

COMMENT ON TABLE changes IS 'The change log of each library, which clients read to update their copies. Only triggers write it.';
COMMENT ON COLUMN changes.seq IS 'The number of the entry in the log of the user, without gaps, in the order of the commits.';
COMMENT ON COLUMN changes.typename IS 'The type in the GraphQL schema, such as Book.';
COMMENT ON COLUMN changes.id IS 'The id of the object. Its current state is in its table.';

COMMENT ON TABLE events IS 'The outbox of events for brokers and live subscriptions.';
COMMENT ON COLUMN events.id IS 'Ascending in the order of the commits of a user.';
COMMENT ON COLUMN events.delivered_at IS 'When the broker confirmed the event; null before that.';

COMMENT ON TABLE leases IS 'Work that one server does at a time, such as publishing events.';
COMMENT ON COLUMN leases.holder IS 'The server that does the work until `lease_until`.';

COMMENT ON TABLE webhooks IS 'The addresses that receive the events of a tenant.';
COMMENT ON COLUMN webhooks.event_types IS 'Types such as `book.updated`, and patterns: `book.*`, or `*` for all.';
COMMENT ON COLUMN webhooks.sealed_secret IS 'The signing secret, encrypted with the sealing key of the installation.';
COMMENT ON COLUMN webhooks.sealed_previous_secret IS
    'The secret before the last rotation. Deliveries are also signed with it until `previous_secret_until`.';
COMMENT ON COLUMN webhooks.disabled_at IS
    'When the receiver responded with the status 410; null if it did not. Nothing is sent until an operator enables the '
    'webhook.';
COMMENT ON COLUMN webhooks.failures IS 'The number of failed attempts since the last successful one.';
COMMENT ON COLUMN webhooks.paused_until IS 'When the receiver may get requests again; null without a pause.';

COMMENT ON TABLE webhook_positions IS 'Users with changes or events for which there are no deliveries yet.';
COMMENT ON COLUMN webhook_positions.change_seq IS 'The newest entry of `changes` that was collected.';
COMMENT ON COLUMN webhook_positions.event_id IS 'The newest row of `events` that was collected.';

COMMENT ON TABLE webhook_deliveries IS
    'Events to send to webhooks, and those that were sent. They contain only ids of users'' data.';
COMMENT ON COLUMN webhook_deliveries.number IS 'The order of the events of a user.';
COMMENT ON COLUMN webhook_deliveries.type IS 'The type of the event, such as `book.updated`.';
COMMENT ON COLUMN webhook_deliveries.object_id IS 'The changed object, or the book of a cover. Null for events of the account.';
COMMENT ON COLUMN webhook_deliveries.change_seq IS 'The entry of `changes`; null for other events.';
COMMENT ON COLUMN webhook_deliveries.due_at IS
    'When the next attempt is due. Only the oldest waiting delivery of a user for a webhook has it.';
COMMENT ON COLUMN webhook_deliveries.expires_at IS
    'When a waiting delivery becomes dead, or when a delivered or dead one is deleted.';
COMMENT ON COLUMN webhook_deliveries.last_status IS 'The HTTP status of the last attempt; null without a response.';

-- MARK: Covers

COMMENT ON TABLE covers IS 'The covers of books. The files are in the object store, written before the row and removed after it.';
COMMENT ON COLUMN covers.tenant_id IS 'The tenant of the user, whose storage the cover uses.';
COMMENT ON COLUMN covers.version IS 'Names the files. The first 16 digits depend only on the image.';
COMMENT ON COLUMN covers.width IS 'The width of the full size in pixels.';
COMMENT ON COLUMN covers.height IS 'The height of the full size in pixels.';
COMMENT ON COLUMN covers.dominant_color IS 'A color of CSS, such as #A1B2C3.';
COMMENT ON COLUMN covers.blur_hash IS 'A placeholder in the format of https://blurha.sh.';
COMMENT ON COLUMN covers.byte_counts IS 'The sizes of three files: thumbnail, full size, large size.';
COMMENT ON COLUMN covers.hashes IS 'The SHA-256 hashes of the same files.';

COMMENT ON TABLE removed_covers IS 'Versions that no row uses any more, until their files are removed.';
COMMENT ON COLUMN removed_covers.kept_until IS
    'Null for a version that a row used. A version that was found without a row is kept until this time.';

COMMENT ON TABLE tenant_storage IS
    'The storage that the covers of each tenant use, in 16 parts, so that uploads rarely wait for one another.';
COMMENT ON COLUMN tenant_storage.part IS 'From 0 to 15. The storage of a tenant is the sum of its parts.';
COMMENT ON COLUMN tenant_storage.covers IS 'The number of covers.';

COMMENT ON TABLE object_writes IS 'Versions of images that servers are writing to a bucket. Rows exist for seconds.';
COMMENT ON COLUMN object_writes.version IS 'The path in the bucket: BUCKET/FOLDER/NAME.VERSION.';
COMMENT ON COLUMN object_writes.expires_at IS 'When the writing process is considered dead.';

-- MARK: The feed

COMMENT ON TABLE swipes IS 'The swipes of readers. A swipe that is undone stays for some time.';
COMMENT ON COLUMN swipes.swiped_at IS
    'The time of the device, which may be in the future, or that of the server if the device sent none.';
COMMENT ON COLUMN swipes.action IS 'BUY: the reader has opened a link to a shop.';
COMMENT ON COLUMN swipes.store IS 'The id of the shop, for BUY; null if the device did not send it.';
COMMENT ON COLUMN swipes.recorded_at IS 'When the server stored the swipe.';
COMMENT ON COLUMN swipes.saved_book_id IS 'The book that the swipe added to the library. It may have been deleted.';

COMMENT ON TABLE feed_decks IS 'Immutable lists of cards for a reader. A scroll of the feed reads a chain of decks.';
COMMENT ON COLUMN feed_decks.chain IS
    'The number of the chain, from the sequence `feed_chains`. Negative if it starts with a deck of `cold_start_decks`.';
COMMENT ON COLUMN feed_decks.number IS 'The number of preceding decks of the chain.';
COMMENT ON COLUMN feed_decks.filter IS 'The ids of the genres of a filtered feed, ascending. Empty for all genres.';
COMMENT ON COLUMN feed_decks.editions IS 'The cards in their order. Empty at the end of a feed.';
COMMENT ON COLUMN feed_decks.signals_version IS
    'The value of `users.signals_version` from which the deck was built. An older deck does not start a scroll.';

COMMENT ON TABLE cold_start_decks IS 'The first decks of readers without signals.';
COMMENT ON COLUMN cold_start_decks.chain IS 'Negative, so that it differs from the numbers of `feed_chains`.';
COMMENT ON COLUMN cold_start_decks.editions IS 'The cards in their order.';

COMMENT ON TABLE feed_state IS 'The state of the feed''s background work, in a single row.';
COMMENT ON COLUMN feed_state.main_language IS 'The language of most editions. Editions in other languages come last in the feed.';
COMMENT ON COLUMN feed_state.decks_valid_since IS 'Decks that were built before this time are not used to start a scroll.';
COMMENT ON COLUMN feed_state.collected_at IS 'When the readers whose signals changed were last searched.';

COMMENT ON TABLE readers_to_collect IS 'Readers whose signals have to be collected again.';

COMMENT ON TABLE collected_signals IS
    'The signals of each reader at the last collection, newest first. The arrays have the same length.';
COMMENT ON COLUMN collected_signals.works IS 'The numbers (`editions.number`) of the oldest editions of the works.';
COMMENT ON COLUMN collected_signals.weights IS 'The weight of each signal for learning similar books, in hundredths.';
COMMENT ON COLUMN collected_signals.voices IS
    'The weight of each signal in the popularity of its work, in hundredths (`voice` in `reader_signals`). Negative weights '
    'are stored as 0.';
COMMENT ON COLUMN collected_signals.times IS 'The time of each signal.';
COMMENT ON COLUMN collected_signals.newest_at IS 'The first element of `times`; -infinity without signals.';

COMMENT ON TABLE work_signals IS 'The sums of the collected signals of each work.';
COMMENT ON COLUMN work_signals.number IS 'The number (`editions.number`) of the oldest edition of the work.';
COMMENT ON COLUMN work_signals.signals IS 'The number of signals.';
COMMENT ON COLUMN work_signals.voice IS
    'The sum of `collected_signals.voices`: the weight of the signals in the popularity, in hundredths.';
COMMENT ON COLUMN work_signals.recent IS
    'The same sum with each weight multiplied by 2 ^ (d / 14), where d is the number of days from 2026-01-01 to the signal. '
    'Divided by this power for today, it is a sum with a half-life of 14 days.';
COMMENT ON COLUMN work_signals.changes IS 'The number of signals that were ever added, changed, or removed.';
COMMENT ON COLUMN work_signals.learned_changes IS 'The value of `changes` when similar books of the work were last learned.';

-- MARK: Documents, limits, and the use of the schema

COMMENT ON TABLE documents IS 'The trusted documents of apps, by the ids that requests contain.';
COMMENT ON COLUMN documents.sha256 IS 'SHA-256 of the body, in hexadecimal.';
COMMENT ON COLUMN documents.name IS 'The name of the first operation; null without one.';
COMMENT ON COLUMN documents.kind IS 'The kind of the first operation; null if the document has none.';
COMMENT ON COLUMN documents.synced_at IS 'When a manifest last contained the document.';

COMMENT ON TABLE persisted_queries IS
    'Documents that clients have registered by their hashes (automatic persisted queries). Clients register them again if the'
    ' table is lost.';
COMMENT ON COLUMN persisted_queries.sha256 IS 'SHA-256 of the body, in hexadecimal.';
COMMENT ON COLUMN persisted_queries.bytes IS 'The size of the body.';

COMMENT ON TABLE rate_buckets IS
    'The token buckets of rate limits, shared by all servers. Callers that have used little of a bucket have no row.';
COMMENT ON COLUMN rate_buckets.kind IS 'The limit to which the bucket belongs, by the numbers in `RateLimits.swift`.';
COMMENT ON COLUMN rate_buckets.key IS 'The id of a user or a tenant, or the address of a client.';
COMMENT ON COLUMN rate_buckets.full_at IS 'When the bucket will be full again.';

COMMENT ON TABLE usage_clients IS 'The apps whose use of the schema is counted.';
COMMENT ON COLUMN usage_clients.tenant_id IS 'Null for requests without a valid access token, such as a sign-in.';
COMMENT ON COLUMN usage_clients.name IS
    'The name that the app sends; empty if it sends none. `(other)` contains all apps beyond the limit.';

COMMENT ON TABLE schema_usage IS 'The number of operations that have used an element of the GraphQL schema.';
COMMENT ON COLUMN schema_usage.coordinate IS
    'A field, argument, input field, or enum value, such as `Book.title` or `Query.book(id:)`.';

-- MARK: Audit and operations

COMMENT ON TABLE audit_events IS
    'Events of security and administration. They contain no personal data, and stay when the account is deleted.';
COMMENT ON COLUMN audit_events.credential_id IS 'The session or access token to which the event refers.';
COMMENT ON COLUMN audit_events.operator IS 'The user of the operating system who ran the command. Null for events of readers.';
COMMENT ON COLUMN audit_events.position IS 'The position in the hash chain, from 1; null until a job adds the event to the chain.';
COMMENT ON COLUMN audit_events.hash IS 'SHA-256 of the hash of the previous event and this event.';

COMMENT ON TABLE audit_chain IS 'Both ends of the hash chain, in a single row.';
COMMENT ON COLUMN audit_chain.first_position IS 'The position of the oldest event that was not pruned.';
COMMENT ON COLUMN audit_chain.previous_hash IS 'The hash before that event: of the last pruned event, or 32 zeros.';
COMMENT ON COLUMN audit_chain.last_position IS 'The position of the newest event; 0 before the first one.';

COMMENT ON TABLE account_moves IS 'The moves of accounts to and from other databases. Rows are never deleted.';
COMMENT ON COLUMN account_moves.move_id IS 'The same in both databases.';
COMMENT ON COLUMN account_moves.state IS
    'CLOSING: credentials are packed. LEAVING: all rows are packed. LEFT: the other database has the account. ARRIVING: the '
    'account is expected. ARRIVED: the account is here. CANCELLED: the move was undone.';
COMMENT ON COLUMN account_moves.number IS
    'The position among the completed moves of the account, from 1, in both databases. 0 if the move was cancelled before '
    'this database knew it.';
COMMENT ON COLUMN account_moves.other_installation IS 'The value of `installation.id` in the other database.';
COMMENT ON COLUMN account_moves.new_url IS
    'The address of the server that has the account now. Null if the operator has given none.';
COMMENT ON COLUMN account_moves.known_hashes IS
    'Hashes of the identities and credentials of the account, with which requests are refused.';

COMMENT ON TABLE account_parcels IS 'The rows of accounts that are being moved.';
COMMENT ON COLUMN account_parcels.table_name IS 'The table of the row.';
COMMENT ON COLUMN account_parcels.number IS 'The order of the rows of a table.';

COMMENT ON TABLE checkpoints IS 'The progress of long tasks, which continue after an interruption.';
COMMENT ON COLUMN checkpoints.position IS 'The last item that was processed, in a format of the task.';
COMMENT ON COLUMN checkpoints.done IS 'The number of processed items.';
COMMENT ON COLUMN checkpoints.found IS 'The number of processed items with a result.';

COMMENT ON TABLE installation IS
    'The id of this installation, in a single row. The object store contains it, too, so that the files of another one are '
    'never deleted.';

COMMENT ON TABLE timelines IS
    'The timelines of the WAL on which servers have used this database. A replica that lacks a row follows another history.';
COMMENT ON COLUMN timelines.number IS 'The number of the timeline in the names of WAL files.';
COMMENT ON COLUMN timelines.mark IS 'Distinguishes timelines of the same number, if two standbys were promoted.';

COMMENT ON TABLE schema_migrations IS 'The versioned files that were applied.';
COMMENT ON COLUMN schema_migrations.version IS 'The time in the name of the file.';
COMMENT ON COLUMN schema_migrations.checksum IS 'SHA-256 of the file.';
COMMENT ON COLUMN schema_migrations.milliseconds IS 'How long the file took.';

COMMENT ON TABLE schema_functions IS 'The repeatable files that were applied.';
COMMENT ON COLUMN schema_functions.name IS 'The name of the file in `functions`, without .sql.';
COMMENT ON COLUMN schema_functions.checksum IS 'SHA-256 of the file.';

COMMENT ON TABLE schema_states IS
    'The combinations of a version and repeatable files that the database has had. A server is ready if its own combination '
    'is here.';
COMMENT ON COLUMN schema_states.functions IS 'A checksum of all repeatable files.';
