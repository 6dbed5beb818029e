-- Why: accounts, the apps they belong to, and the sessions that prove who calls.

do $$
begin
  if not exists (select from pg_roles where rolname = 'bookplate_app') then
    create role bookplate_app login;
  end if;
exception when insufficient_privilege then
  raise exception 'role bookplate_app is missing: create it as a superuser with "create role bookplate_app login"';
end
$$;
grant usage on schema public to bookplate_app;
grant select on schema_migrations to bookplate_app;

-- Who calls, as begin_request set it for this transaction only; null where nothing was set,
-- which no row equals: the policies fail closed. Policies call it in a sub-select, so that it
-- runs once a statement and the indexes stay usable.
create function app_user_id() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('app.user_id', true), '')::uuid $$;
create function app_tenant_id() returns uuid language sql stable parallel safe
  as $$ select nullif(current_setting('app.tenant_id', true), '')::uuid $$;
-- The verified subject of an identity token, during sign-in only.
create function app_subject() returns text language sql stable parallel safe
  as $$ select nullif(current_setting('app.subject', true), '') $$;

create table tenants (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (name <> ''),
  -- Of identity tokens; none means those that the server is configured with.
  issuers text[] not null default '{}',
  audiences text[] not null,
  amazon_tag text check (amazon_tag ~ '^[A-Za-z0-9-]{1,64}$'),
  bookshop_id text check (bookshop_id ~ '^[0-9]{1,10}$'),
  created_at timestamptz not null default now()
);
grant select on tenants to bookplate_app;

create table users (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  apple_sub text not null,
  email text,
  display_name text,
  preferred_genres text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (tenant_id, apple_sub)
);
alter table users enable row level security, force row level security;
create policy owner_only on users to bookplate_app
  using (id = (select app_user_id()) and tenant_id = (select app_tenant_id()))
  with check (id = (select app_user_id()) and tenant_id = (select app_tenant_id()));
-- Sign-in knows no user id yet: the verified identity itself shows its own row.
create policy identity_only on users for select to bookplate_app
  using (tenant_id = (select app_tenant_id()) and apple_sub = (select app_subject()));
create policy administration on users to current_user using (true) with check (true);
grant select, insert, update, delete on users to bookplate_app;

-- One row a sign-in. The refresh token's secret is kept as a hash; generations count its rotations.
create table sessions (
  user_id uuid not null references users on delete cascade,
  id uuid not null,
  generation int not null default 0,
  refresh_hash bytea not null,
  device_name text,
  created_at timestamptz not null default now(),
  rotated_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz,
  primary key (user_id, id)
);
alter table sessions enable row level security, force row level security;
create policy owner_only on sessions to bookplate_app
  using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()));
create policy administration on sessions to current_user using (true) with check (true);
grant select, insert, update, delete on sessions to bookplate_app;

-- What is left of a deleted account: nothing personal.
create table account_tombstones (
  id uuid primary key default gen_random_uuid(),
  user_hash bytea not null,
  deleted_at timestamptz not null default now(),
  books int not null,
  reviews int not null
);
grant insert on account_tombstones to bookplate_app;

-- Opens every pipelined request: says who calls, for this transaction only, and refuses a session
-- that has ended, so that a revoked session or a deleted account stops at its next request.
create function begin_request(user_id uuid, tenant_id uuid, session_id uuid, read_only boolean)
returns void language plpgsql as $$
declare
  ignored text;
begin
  -- Assignments, because plpgsql evaluates them without starting an executor.
  ignored := set_config('app.user_id', user_id::text, true);
  ignored := set_config('app.tenant_id', tenant_id::text, true);
  if read_only then
    ignored := set_config('transaction_read_only', 'on', true);
  end if;
  perform from sessions s
    where s.user_id = begin_request.user_id and s.id = session_id
      and s.revoked_at is null and s.expires_at > now();
  if not found then
    raise exception 'the session has ended' using errcode = 'BP401';
  end if;
end
$$;
