-- Adds other readers with five books each to the database of fill.sql. The benchmark does not request anything of theirs:
--
--   psql -v readers=198000 -f scripts/benchmark/enlarge.sql "$BOOKPLATE_ADMIN_DATABASE_URL"
\set ON_ERROR_STOP on
set app.bulk = on;

create function pg_temp.id(what text) returns uuid language sql immutable as $$ select md5(what)::uuid $$;
-- 7,919 and 10,000 have no common factor, so no reader has the same edition twice.
create procedure pg_temp.add_readers(first int, last int) language plpgsql as $$
begin
  insert into users (id, tenant_id, display_name)
    select pg_temp.id('other-' || u), pg_temp.id('tenant'), 'Other ' || u from generate_series(first, last) u;
  insert into identities (user_id, tenant_id, subject)
    select pg_temp.id('other-' || u), pg_temp.id('tenant'), 'other-' || u from generate_series(first, last) u;
  insert into sessions (user_id, id, refresh_hash, expires_at)
    select pg_temp.id('other-' || u), pg_temp.id('other-session-' || u), '\x00', timestamptz '2100-01-01 00:00Z'
    from generate_series(first, last) u;
  insert into shelves (user_id, id, name, position)
    select pg_temp.id('other-' || u), pg_temp.id('other-shelf-' || u), 'Favourites', 0 from generate_series(first, last) u;
  insert into books (user_id, id, edition_id, title, authors, isbn13, page_count, genre, status, added_at, finished_at)
    select pg_temp.id('other-' || u), pg_temp.id('other-book-' || u || '-' || k), e.id, e.title, e.authors, e.isbn13, e.page_count,
      e.genres[1], (array['READ', 'READ', 'READING', 'WANT_TO_READ', 'READ'])[k]::reading_status,
      timestamptz '2024-01-01 00:00Z' + u * k * interval '1 second',
      case when k in (1, 2, 5) then timestamptz '2024-06-01 00:00Z' + u * k * interval '1 second' end
    from generate_series(first, last) u
    cross join generate_series(1, 5) k
    join editions e on e.id = pg_temp.id('edition-' || 1 + (u * 13 + k * 7919) % 10000);
  insert into shelf_books (user_id, shelf_id, book_id, added_at)
    select pg_temp.id('other-' || u), pg_temp.id('other-shelf-' || u), pg_temp.id('other-book-' || u || '-1'), now()
    from generate_series(first, last) u;
  insert into reviews (user_id, book_id, id, quarter_stars)
    select pg_temp.id('other-' || u), pg_temp.id('other-book-' || u || '-1'), pg_temp.id('other-review-' || u), 4 + 4 * (u % 5)
    from generate_series(first, last) u;
end
$$;

-- A transaction locks each of its readers, and PostgreSQL has room for some thousands of locks.
select format('call pg_temp.add_readers(%s, %s)', n, least(n + 1999, :readers)) from generate_series(1, :readers, 2000) n
\gexec
