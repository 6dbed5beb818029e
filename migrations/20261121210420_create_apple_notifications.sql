-- Why: what Apple tells about its accounts is acted on once, however often it is told.

create table apple_notifications (
  -- SHA-256 of issuer and jti: the id of a notification, and nothing of what it says.
  id_hash bytea primary key check (octet_length(id_hash) = 32),
  received_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index apple_notifications_expires_at on apple_notifications (expires_at);
grant select, insert, update, delete on apple_notifications to bookplate_app;

-- Mail to a relay address that its owner has switched off goes nowhere: the address is not shown until it is
-- switched on again.
alter table users add email_disabled boolean not null default false;

-- Takes note of a notification, in the transaction that acts on it; refuses one that was acted on.
create function take_apple_notification(id_hash bytea, expires_at timestamptz) returns void
language plpgsql as $$
begin
  delete from apple_notifications n where n.id_hash in (
    select e.id_hash from apple_notifications e where e.expires_at < now() - interval '1 hour'
      order by e.expires_at limit 20 for update skip locked);
  insert into apple_notifications (id_hash, expires_at)
    values (take_apple_notification.id_hash, take_apple_notification.expires_at) on conflict do nothing;
  if not found then
    raise exception 'the notification was acted on before' using errcode = 'BP412';
  end if;
end
$$;
