-- Why: a card of the catalogue shows the picture that an outside source has of its book, fetched once and before anybody asks.

alter table editions
  add column cover_version text check (cover_version ~ '^[0-9a-f]{32}$'),
  -- Of the largest size that is kept.
  add column cover_width int check (cover_width > 0),
  add column cover_asked_at timestamptz;
-- Those that were never asked for come first, the popular first of all.
create index editions_without_cover on editions (cover_asked_at nulls first, popularity desc, id)
  where cover_version is null;

-- Takes editions without a picture, and writes down that they are asked for: not again for 90 days.
create function take_editions_without_cover(count int)
returns table (id uuid, isbn13 text, cover_links text[])
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e set cover_asked_at = now()
    where e.id in (
      select d.id from editions d
        where d.cover_version is null and (d.cover_asked_at is null or d.cover_asked_at < now() - interval '90 days')
          and (d.isbn13 is not null or d.cover_links <> '{}')
        order by d.cover_asked_at nulls first, d.popularity desc, d.id
        limit take_editions_without_cover.count for update skip locked)
    returning e.id, e.isbn13, e.cover_links;
end;

-- As above, of one that has just come.
create function take_edition_without_cover(isbn13 text)
returns table (id uuid, isbn13 text, cover_links text[])
language sql security definer set search_path = public, pg_temp
begin atomic
  update editions e set cover_asked_at = now()
    where e.isbn13 = take_edition_without_cover.isbn13 and e.cover_version is null
    returning e.id, e.isbn13, e.cover_links;
end;

-- Names the files of an edition's picture, which are there; answers what is named now. The first stays.
create function set_edition_cover(id uuid, version text, width int) returns text
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  update editions e set cover_version = set_edition_cover.version, cover_width = set_edition_cover.width
    where e.id = set_edition_cover.id and e.cover_version is null;
  return (select e.cover_version from editions e where e.id = set_edition_cover.id);
end
$$;
do $$
declare
  name text;
begin
  foreach name in array array['take_editions_without_cover(int)', 'take_edition_without_cover(text)',
    'set_edition_cover(uuid, text, int)'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;
