-- Why: covers: what is known of each stored picture, how much room they take, and which stored versions nobody names any more.

create type cover_status as enum ('NONE', 'FETCHING', 'READY', 'NOT_FOUND', 'FAILED');
create type cover_source as enum ('MANUAL_UPLOAD', 'URL', 'OPEN_LIBRARY', 'GOOGLE_BOOKS', 'WEB_SEARCH');

-- cover_wanted_at is when the search under way was asked for: one that nobody ends is over by itself.
alter table books
  add column cover_status cover_status not null default 'NONE',
  add column cover_wanted_at timestamptz;

-- The row names the version whose files are in the store; they are there before it and go after it.
create table covers (
  user_id uuid not null references users on delete cascade,
  book_id uuid not null,
  tenant_id uuid not null references tenants,
  version text not null check (version ~ '^[0-9a-f]{32}$'),
  source cover_source not null,
  -- Of the full size.
  width int not null check (width > 0),
  height int not null check (height > 0),
  dominant_color text not null check (dominant_color ~ '^#[0-9A-F]{6}$'),
  blur_hash text not null,
  -- Of the thumbnail, the full and the large size, in that order.
  byte_counts int[] not null check (array_length(byte_counts, 1) = 3),
  hashes bytea[] not null check (array_length(hashes, 1) = 3),
  updated_at timestamptz not null default now(),
  primary key (user_id, book_id),
  foreign key (user_id, book_id) references books on delete cascade
);

-- Versions that no row names since the transaction that wrote them here; their files are to be removed.
create table removed_covers (
  user_id uuid not null references users on delete cascade,
  book_id uuid not null,
  version text not null,
  primary key (user_id, book_id, version)
);

do $$
declare
  owned text;
begin
  foreach owned in array array['covers', 'removed_covers'] loop
    execute format('alter table %I enable row level security, force row level security', owned);
    execute format('create policy owner_only on %I to bookplate_app '
      'using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()))', owned);
    execute format('create policy administration on %I to current_user using (true) with check (true)', owned);
    execute format('grant select, insert, update, delete on %I to bookplate_app', owned);
  end loop;
end
$$;

-- Whatever removes a cover, a book or a shelf, no version is forgotten. Of an account all objects go by its folder.
create function remember_removed_cover() returns trigger language plpgsql as $$
begin
  insert into removed_covers (user_id, book_id, version)
    select old.user_id, old.book_id, old.version
    where exists (select from users u where u.id = old.user_id)
    on conflict do nothing;
  return null;
end
$$;
create trigger covers_removed after delete on covers
  for each row execute function remember_removed_cover();
create trigger covers_replaced after update on covers
  for each row when (old.version <> new.version) execute function remember_removed_cover();

-- How much room a tenant may take, and each of its users; null is no limit.
alter table tenants
  add column storage_bytes_max bigint check (storage_bytes_max >= 0),
  add column user_storage_bytes_max bigint default 2147483648 check (user_storage_bytes_max >= 0);

-- The room that is taken, counted as covers come and go; in sixteen parts, so that uploads of one tenant
-- do not wait for one row.
create table tenant_storage (
  tenant_id uuid not null references tenants on delete cascade,
  part smallint not null,
  bytes bigint not null,
  covers bigint not null,
  primary key (tenant_id, part)
);
grant select on tenant_storage to bookplate_app;

create function cover_bytes(byte_counts int[]) returns bigint language sql immutable
  return byte_counts[1]::bigint + byte_counts[2] + byte_counts[3];

create function count_stored_bytes() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if tg_op <> 'INSERT' then
    update tenant_storage t set bytes = t.bytes - cover_bytes(old.byte_counts), covers = t.covers - 1
      where t.tenant_id = old.tenant_id and t.part = abs(hashtext(old.user_id::text) % 16);
  end if;
  if tg_op <> 'DELETE' then
    insert into tenant_storage as t (tenant_id, part, bytes, covers)
      values (new.tenant_id, abs(hashtext(new.user_id::text) % 16), cover_bytes(new.byte_counts), 1)
      on conflict (tenant_id, part) do update
        set bytes = t.bytes + excluded.bytes, covers = t.covers + 1;
  end if;
  return null;
end
$$;
revoke all on function count_stored_bytes() from public;
create trigger covers_counted after insert or delete or update of byte_counts on covers
  for each row execute function count_stored_bytes();

-- Makes a version the cover of a book, and answers which version that is now: the one that was there where it is the
-- same picture, or where it is newer than `unless_newer_than`.
create function set_cover(
  user_id uuid, book_id uuid, version text, source cover_source, width int, height int,
  dominant_color text, blur_hash text, byte_counts int[], hashes bytea[], unless_newer_than timestamptz
) returns text language plpgsql as $$
#variable_conflict use_column
declare
  tenant tenants;
  current covers;
  added bigint := cover_bytes(set_cover.byte_counts);
begin
  -- Two covers of one book come one after the other, and a book that is being deleted is gone first.
  perform from books b where b.user_id = set_cover.user_id and b.id = set_cover.book_id for no key update;
  if not found then
    raise exception 'There is no such book in the library.' using errcode = 'BP404';
  end if;
  select * into current from covers c where c.user_id = set_cover.user_id and c.book_id = set_cover.book_id;
  if current.updated_at > unless_newer_than then return current.version; end if;

  select t.* into tenant from tenants t join users u on u.tenant_id = t.id where u.id = set_cover.user_id;
  if added + (select coalesce(sum(cover_bytes(c.byte_counts)), 0) from covers c
      where c.user_id = set_cover.user_id and c.book_id <> set_cover.book_id) > tenant.user_storage_bytes_max then
    raise exception 'Your covers take all the room there is for them. Remove some, and try again.'
      using errcode = 'BP413';
  end if;
  if added + (select coalesce(sum(s.bytes), 0) from tenant_storage s where s.tenant_id = tenant.id)
      > tenant.storage_bytes_max then
    raise exception 'There is no room for more covers at the moment. Try again later.' using errcode = 'BP413';
  end if;

  update books b set cover_status = 'READY', cover_wanted_at = null,
      updated_at = case when unless_newer_than is null then now() else b.updated_at end
    where b.user_id = set_cover.user_id and b.id = set_cover.book_id;
  if left(current.version, 16) = left(set_cover.version, 16) then
    update covers c set source = set_cover.source
      where c.user_id = set_cover.user_id and c.book_id = set_cover.book_id and c.source <> set_cover.source;
    return current.version;
  end if;
  insert into covers (user_id, book_id, tenant_id, version, source, width, height, dominant_color,
      blur_hash, byte_counts, hashes)
    values (set_cover.user_id, set_cover.book_id, tenant.id, set_cover.version, set_cover.source,
      set_cover.width, set_cover.height, set_cover.dominant_color, set_cover.blur_hash,
      set_cover.byte_counts, set_cover.hashes)
    on conflict (user_id, book_id) do update
      set version = excluded.version, source = excluded.source, width = excluded.width,
        height = excluded.height, dominant_color = excluded.dominant_color, blur_hash = excluded.blur_hash,
        byte_counts = excluded.byte_counts, hashes = excluded.hashes, updated_at = now();
  return set_cover.version;
end
$$;

-- What anybody may know who knows the ids: pictures are public, by addresses that cannot be guessed.
create function public_cover_version(user_id uuid, book_id uuid) returns text
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select c.version from covers c
    where c.user_id = public_cover_version.user_id and c.book_id = public_cover_version.book_id;
end;
create function public_book_title(user_id uuid, book_id uuid, out title text, out author text, out genre text)
returns setof record
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select b.title, b.author, b.genre from books b
    where b.user_id = public_book_title.user_id and b.id = public_book_title.book_id;
end;
do $$
declare
  name text;
begin
  foreach name in array array['public_cover_version(uuid, uuid)', 'public_book_title(uuid, uuid)'] loop
    execute format('revoke all on function %s from public', name);
    execute format('grant execute on function %s to bookplate_app', name);
  end loop;
end
$$;

alter table account_tombstones add column covers int not null default 0;
