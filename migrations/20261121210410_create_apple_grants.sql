-- Why: what a person granted an app at Apple is revoked there when the account is deleted.

create table apple_grants (
  user_id uuid not null references users on delete cascade,
  -- The app that it was granted to: each can revoke its own only.
  client_id text not null check (char_length(client_id) between 1 and 255),
  -- Apple's refresh token, encrypted with the installation's sealing key.
  sealed_token bytea not null,
  granted_at timestamptz not null default now(),
  primary key (user_id, client_id)
);
alter table apple_grants enable row level security, force row level security;
create policy owner_only on apple_grants to bookplate_app
  using (user_id = (select app_user_id())) with check (user_id = (select app_user_id()));
create policy administration on apple_grants to current_user using (true) with check (true);
grant select, insert, update, delete on apple_grants to bookplate_app;

alter table account_tombstones add column if not exists covers int not null default 0;

-- Takes a job back that its own request has done in the meantime. Only what is nobody's, and waits.
create function withdraw_jobs(ids uuid[]) returns void
language sql security definer set search_path = public, pg_temp
begin atomic
  delete from jobs j where j.id = any (ids) and j.user_id is null and j.state = 'READY' and j.every is null;
end;
revoke all on function withdraw_jobs(uuid[]) from public;
grant execute on function withdraw_jobs(uuid[]) to bookplate_app;
