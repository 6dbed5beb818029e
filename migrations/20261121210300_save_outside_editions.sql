-- Why: what the outside sources know of a book joins the shared catalogue, and what they do not know is remembered.

-- Addresses of covers, the likeliest first, each behind its source and a space.
alter table editions add column cover_links text[] not null default '{}';

-- A source that said it does not know an ISBN is not asked again for a while.
create table source_misses (
  source text not null check (source ~ '^[a-z_]{1,32}$'),
  isbn13 text not null check (isbn13 ~ '^97[89][0-9]{10}$'),
  expires_at timestamptz not null,
  primary key (source, isbn13)
);
create index source_misses_isbn13 on source_misses (isbn13);
grant select on source_misses to bookplate_app;

-- The server may not write the catalogue. These two are what it may do: add a book that is not there, fill what
-- nobody has said of one that is, and remember for a while who does not know one. Nothing that is there is ever
-- changed or removed through them, whoever calls.
create function save_edition(
  isbn13 text, isbn10 text, title text, subtitle text, authors text[], publisher text,
  published_date text, page_count int, language text, genres text[], description text, hook text,
  cover_links text[], sources text[], keys text[]
) returns uuid
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  saved uuid;
  -- Genres of the catalogue's own only: sources call everything a subject.
  known text[] := array(
    select g.name from unnest(save_edition.genres) with ordinality as w (name, place)
    join genres g on lower(g.name) = lower(w.name) order by w.place);
begin
  insert into editions as e (id, isbn13, isbn10, title, subtitle, authors, publisher, published_date,
      page_count, language, genres, description, hook, cover_links)
    values (gen_random_uuid(), save_edition.isbn13, save_edition.isbn10, save_edition.title,
      save_edition.subtitle, save_edition.authors, save_edition.publisher,
      save_edition.published_date, save_edition.page_count, save_edition.language, known,
      save_edition.description, save_edition.hook, save_edition.cover_links)
    on conflict (isbn13) do update set
      isbn10 = coalesce(e.isbn10, excluded.isbn10),
      subtitle = coalesce(e.subtitle, excluded.subtitle),
      authors = case when e.authors = '{}' then excluded.authors else e.authors end,
      publisher = coalesce(e.publisher, excluded.publisher),
      published_date = coalesce(e.published_date, excluded.published_date),
      page_count = coalesce(e.page_count, excluded.page_count),
      language = coalesce(e.language, excluded.language),
      genres = case when e.genres = '{}' then excluded.genres else e.genres end,
      description = coalesce(e.description, excluded.description),
      hook = coalesce(e.hook, excluded.hook),
      cover_links = case when e.cover_links = '{}' then excluded.cover_links else e.cover_links end,
      updated_at = now()
    returning e.id into saved;
  insert into edition_sources (source, key, edition_id)
    select w.source, w.key, saved from unnest(save_edition.sources, save_edition.keys) w (source, key)
    on conflict do nothing;
  return saved;
end
$$;

create function remember_misses(sources text[], isbns text[], seconds int) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  insert into source_misses (source, isbn13, expires_at)
    select distinct w.source, w.isbn13, now() + least(seconds, 2592000) * interval '1 second'
    from unnest(sources, isbns) w (source, isbn13)
    -- In one order, so that two servers do not wait for one another.
    order by 2, 1
    on conflict (source, isbn13) do update set expires_at = excluded.expires_at;
end;

revoke execute on function save_edition, remember_misses from public;
grant execute on function save_edition, remember_misses to bookplate_app;
