-- Why: a device shows how far an import is: each step wakes the subscriptions of its owner.

create function notify_of_imports() returns trigger language plpgsql as $$
begin
  perform pg_notify('changes', t.user_id::text) from (select distinct user_id from written) t;
  return null;
end
$$;
create trigger notify after update on imports referencing new table as written
  for each statement execute function notify_of_imports();
