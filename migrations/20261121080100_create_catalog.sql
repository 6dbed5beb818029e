-- Why: the shared catalogue that the feed and the look-ups show, and the order the feed shows it in.

create table editions (
  id uuid primary key,
  isbn13 text unique check (isbn13 ~ '^97[89][0-9]{10}$'),
  isbn10 text check (isbn10 ~ '^[0-9]{9}[0-9X]$'),
  title text not null check (title <> ''),
  subtitle text,
  series text,
  series_position text,
  authors text[] not null default '{}',
  publisher text,
  published_date text,
  language text,
  page_count int check (page_count > 0),
  genres text[] not null default '{}',
  description text,
  hook text check (char_length(hook) <= 140),
  average_rating float8 check (average_rating between 0 and 5),
  ratings_count int not null default 0 check (ratings_count >= 0),
  popularity float8 not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
grant select on editions to bookplate_app;

-- A book's ids elsewhere; an outside id names one edition here.
create table edition_sources (
  source text not null check (source ~ '^[a-z_]{1,32}$'),
  key text not null check (char_length(key) between 1 and 200),
  edition_id uuid not null references editions on delete cascade,
  primary key (source, key)
);
create index edition_sources_edition_id on edition_sources (edition_id);
grant select on edition_sources to bookplate_app;

create table genres (
  id smallint primary key,
  name text not null unique,
  readers bigint not null default 0
);
grant select on genres to bookplate_app;

-- For each genre its books by popularity. The feed takes them from here by position, so that a
-- page costs the same wherever in the catalogue it stands. `ordinal` is the genre's place among the
-- book's genres: the feed of all genres shows a book under its first only. Genre 0 is "none".
create table feed_order (
  genre_id smallint not null,
  rank int not null,
  edition_id uuid not null references editions on delete cascade,
  ordinal smallint not null,
  primary key (genre_id, rank)
);
create index feed_order_first on feed_order (genre_id, rank) include (edition_id) where ordinal = 1;
create index feed_order_edition_id on feed_order (edition_id, genre_id);
grant select on feed_order to bookplate_app;

-- Brings genres and feed_order up to date with editions; writes only what changed.
create function refresh_feed_order() returns void language plpgsql as $$
begin
  insert into genres (id, name, readers)
    select (coalesce((select max(id) from genres), 0) + row_number() over (order by name))::smallint,
      name, 0
    from (select distinct unnest(genres) as name from editions) found
    where not exists (select from genres g where g.name = found.name);
  update genres g set readers = counted.readers
    from (select genre, sum(ratings_count)::bigint as readers
      from editions, unnest(genres) as genre group by genre) counted
    where counted.genre = g.name and counted.readers <> g.readers;
  create temporary table wanted on commit drop as
    select genre_id, edition_id, ordinal,
      row_number() over (partition by genre_id order by popularity desc, edition_id)::int as rank
    from (
      select g.id as genre_id, e.id as edition_id, listed.ordinal::smallint, e.popularity
        from editions e, unnest(e.genres) with ordinality as listed (name, ordinal)
        join genres g on g.name = listed.name
      union all
      select 0, e.id, 1, e.popularity from editions e where e.genres = '{}'
    ) ranked;
  insert into feed_order (genre_id, rank, edition_id, ordinal)
    select genre_id, rank, edition_id, ordinal from wanted
    on conflict (genre_id, rank) do update
      set edition_id = excluded.edition_id, ordinal = excluded.ordinal
      where (feed_order.edition_id, feed_order.ordinal)
        is distinct from (excluded.edition_id, excluded.ordinal);
  delete from feed_order f
    where not exists (select from wanted w where w.genre_id = f.genre_id and w.rank = f.rank);
  drop table wanted;
end
$$;
